"""Tests texture fetches and surface accesses, through the whole tool: figures that can be worked out by hand."""

import unittest

import warplens_tool
from warplens_tool import KERNELS, Profile, only


class TextureAccesses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profile = Profile(KERNELS / "texture_accesses.cu", "--gpu", "v100,k80,c2050", "--trials", "4", "--cold")

    def find(self, kernel, site, gpu="v100", kind="load"):
        return self.profile.site(self.profile.kernel(kernel, gpu), site, kind)

    def assert_touches(self, site, executions, lanes, sectors):
        self.assertEqual((site["executions"], site["active_lanes"], site["sectors_per_request"]), (executions, lanes, sectors))

    def test_the_program_computes_the_right_values(self):
        self.assertEqual(self.profile.stdout.splitlines(), ["right"])

    def test_the_machine_code_fetches_the_same_texels(self):
        """Executed, each fetch and each surface access finds its site, with the counts that the source's own probes have."""
        executed = Profile(KERNELS / "texture_accesses.cu", "--gpu", "a100,rtx5090", "--trials", "2", "--cold")
        for kernel in executed.result["kernels"]:
            with self.subTest(kernel["name"], gpu=kernel["gpu"]):
                self.assertEqual(kernel["executed"]["execution"]["different_words"], 0)
                self.assertNotIn("time_unknown", kernel)
                of_source = self.profile.kernel(kernel["name"], "k80")["sites"]
                for site in kernel["sites"]:
                    if site.get("cache_operator") == "tex" and kernel["name"] != "loops":
                        counted = only(other for other in of_source if (other["line"], other["kind"]) == (site["line"], site["kind"]))
                        self.assertEqual((site["executions"], site["sectors_per_request"], site["bytes_used"]),
                                         (counted["executions"], counted["sectors_per_request"], counted["bytes_used"]))

    def test_memory_has_its_own_addresses(self):
        for name in ("line", "pitched"):
            with self.subTest(name):
                site = self.find("rows", name)
                self.assert_touches(site, 64, 32, 4)
                self.assertEqual((site["space"], site["cache_operator"], site["object"]), ("global", "tex", name))
                self.assertEqual(site["bytes_used"], 64 * 128)

    def test_arrays_are_block_linear(self):
        """A sector of 32 bytes holds 4 texels of each of two rows: a warp's row takes 8 sectors, its tile of 8 by 4 only 4."""
        row, tile = self.find("rows", "array"), self.find("tiles", "tile")
        self.assert_touches(row, 64, 32, 8)
        self.assertEqual((row["bytes_used"], row["bytes_moved"]), (64 * 128, 64 * 256))
        self.assert_touches(tile, 1, 32, 4)

    def test_beyond_the_edge(self):
        """In clamp mode all lanes read the first texel. In border mode the 24 lanes outside touch nothing."""
        self.assert_touches(self.find("outside", "clamped"), 1, 32, 1)
        self.assert_touches(self.find("outside", "bordered"), 1, 8, 2)

    def test_a_filter_touches_several_texels(self):
        """A filtered fetch makes one warp access for each corner: four between columns and rows, two between columns, one in a texel's
        middle; a gather takes four in any case. The rows of each lie in two pairs of rows."""
        for name, executions in (("between", 4), ("between columns", 2), ("in the middle", 1), ("gather", 4), ("of a level", 4)):
            with self.subTest(name):
                site = self.find("filtered", name)
                self.assertEqual((site["executions"], site["active_lanes"]), (executions, 32))
                self.assertEqual(site["bytes_used"], executions * 128)

    def test_a_texel_has_its_own_width(self):
        """Each texel has 4 bytes, read as four floats."""
        site = self.find("narrow", "bytes")
        self.assertEqual((site["element_bytes"], site["bytes_used"]), (16, 128))

    def test_a_fetch_counts_as_often_as_nvcc_makes_it(self):
        """A fetch stays in a loop that writes memory, leaves one that does not, and is removed if its value is unused. In the machine code
        the fetches of an unrolled loop, which are the same one, become one."""
        self.assertEqual(self.find("loops", "stays", "k80")["executions"], 8)
        self.assertEqual(self.find("loops", "stays")["executions"], 1)
        self.assertEqual(self.find("loops", "leaves")["executions"], 1)
        self.assertNotIn(self.profile.line_of("goes"), [site["line"] for site in self.profile.kernel("loops", "v100")["sites"]])

    def test_surfaces(self):
        read, write = self.find("surfaces", "read"), self.find("surfaces", "write", kind="store")
        self.assert_touches(read, 1, 32, 8)
        self.assert_touches(write, 1, 32, 8)
        self.assertEqual(write["cache_operator"], "tex")

    def test_which_cache(self):
        """Each sector of the array has the texels of two rows, so a block finds half of them where its neighbour has left them: on one
        SM, that is. 64 blocks on 80 SMs of the V100 share nothing; 14 and 13 SMs get several blocks each."""
        self.assertEqual(self.find("rows", "array", "v100")["l1_hit_rate"]["mean"], 0)
        for gpu in ("k80", "c2050"):
            self.assertIn("l1_hit_rate", self.find("rows", "line", gpu))
            self.assertEqual(self.find("tiles", "tile", gpu)["l1_hit_rate"]["mean"], 0)


if __name__ == "__main__":
    warplens_tool.main()
