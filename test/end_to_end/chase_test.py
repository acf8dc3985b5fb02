"""Compares a pointer chase through the whole tool with latencies measured on real GPUs (test/model/reference/README.md): CPU back end,
trace, model. test/model/chase_test.cpp has all the sizes, without trace."""

import csv
import unittest

from warplens_tool import KERNELS, PROJECT, Profile
import warplens_tool

CLOCK_GHZ = {"v100": 1.380, "a100": 1.410, "gh200": 1.980}
SIZES_KIB = (64, 152, 257, 1024)


def measured_cycles(gpu, kib):
    """Returns the latency of the nearest measured size."""
    with open(PROJECT / "test/model/reference" / f"{gpu}.csv") as lines:
        points = [(float(size), float(cycles)) for size, cycles in list(csv.reader(lines))[1:]]
    size, cycles = min(points, key=lambda point: abs(point[0] - kib))
    assert abs(size / kib - 1) < 0.03, f"{gpu} was not measured near {kib} KiB"
    return cycles


class Chase(unittest.TestCase):
    def test_latency_is_the_measured_one(self):
        profile = Profile(KERNELS / "chase.cu", "--gpu", ",".join(CLOCK_GHZ), "--trials", "4", "--cold")
        self.assertEqual(profile.stdout.splitlines(), [f"chase<{kib}>: right" for kib in SIZES_KIB])
        for gpu, ghz in CLOCK_GHZ.items():
            for kib in SIZES_KIB:
                with self.subTest(gpu=gpu, kib=kib):
                    site = profile.site(profile.kernel(f"chase<{kib}>", gpu), "chase")
                    self.assertEqual(site["executions"], 16 * 8 * kib)
                    cycles = site["latency_ns"]["mean"] * ghz
                    self.assertLess(abs(cycles / measured_cycles(gpu, kib) - 1), 0.10, f"{cycles:.1f} cycles")


if __name__ == "__main__":
    warplens_tool.main()
