"""Tests that warps wait for each other, and for copies in the background, at barriers in shared memory, in the model as in the program."""

import unittest

from warplens_tool import KERNELS, Profile, main

BLOCKS, CHUNKS, WARPS = 16, 64, 3


class HandedOver(unittest.TestCase):
    def test_copies_are_awaited_and_places_are_free_before_they_are_filled_again(self):
        profile = Profile(KERNELS / "handed_over.cu", "--gpu", "h100-sxm", "--trials", "2", "--nvcc", "-arch=sm_90")
        self.assertEqual(profile.stdout.splitlines()[0], "ok")
        kernels = [profile.kernel(f"handed_over<{places}>") for places in (1, 4)]
        one, four = (kernel["time"]["microseconds"]["mean"] for kernel in kernels)
        # The way to memory and back takes some 400 ns by the tensor memory accelerator (Luo et al., arXiv:2501.12084: 743 cycles). Of four
        # places, four copies are on that way at a time.
        self.assertGreater(one, CHUNKS * 0.4)
        self.assertGreater(four, CHUNKS / 4 * 0.4)
        self.assertGreater(one, 2 * four)
        for kernel in kernels:
            checks = [one["executions"] for one in kernel["code"]["instructions"] if "PHASECHK" in one["sass"]]
            self.assertEqual(sum(checks), BLOCKS * CHUNKS * WARPS, "each check is executed once, when its phase is over")

    def test_copies_arrive_while_their_warp_goes_on(self):
        profile = Profile(KERNELS / "copied_arrivals.cu", "--gpu", "h100-sxm", "--trials", "2", "--nvcc", "-arch=sm_90")
        self.assertEqual(profile.stdout.splitlines()[0], "ok")
        kernels = {name: profile.kernel(f"copied<{name}>") for name in ("1, false", "2, false", "4, false", "4, true")}
        one, two, four = (kernels[f"{places}, false"]["time"]["microseconds"]["mean"] for places in (1, 2, 4))
        # An access to memory takes over 400 ns.
        self.assertGreater(one, CHUNKS * 0.4)
        self.assertGreater(two, CHUNKS / 2 * 0.4 * 0.9)
        self.assertGreater(one, 1.6 * two)
        self.assertGreater(two, 1.2 * four)

        def checks(name):
            return sum(one["executions"] for one in kernels[name]["code"]["instructions"] if "PHASECHK" in one["sass"])

        for places in (1, 2, 4):
            self.assertEqual(checks(f"{places}, false"), BLOCKS * (2 * CHUNKS - places), "a check that spins is executed once")
        self.assertGreater(checks("4, true"), BLOCKS * (2 * CHUNKS - 4), "between checks there is work")

    def test_blocks_of_a_cluster_wait_for_each_other(self):
        profile = Profile(KERNELS / "cluster_hand_over.cu", "--gpu", "h100-sxm", "--trials", "2", "--nvcc", "-arch=sm_90")
        self.assertEqual(profile.stdout.splitlines()[0], "ok")
        for in_bulk in ("false", "true"):
            one, four = (profile.kernel(f"handed_over<{places}, {in_bulk}>")["time"]["microseconds"]["mean"] for places in (1, 4))
            # Both blocks access memory, over 400 ns each: in turn where there is one place, side by side where there are four.
            self.assertGreater(one, CHUNKS * 0.8)
            self.assertGreater(four, CHUNKS * 0.4)
            self.assertGreater(one, 1.7 * four)


if __name__ == "__main__":
    main()
