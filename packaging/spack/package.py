"""Spack's recipe. It has not been built so far. In a checkout: `spack dev-build --source-path . warplens@0.1.0`."""

from spack.package import *


class Warplens(CMakePackage):
    """Says line by line what the memory hierarchy of a GPU does to each access of a CUDA program, without a GPU."""

    license("Apache-2.0 WITH LLVM-exception")

    version("0.1.0")

    variant("mpi", default=True, description="Trials over several machines")
    variant("page", default=True, description="The HTML report, which Node.js builds")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("node-js@18:", type="build", when="+page")
    depends_on("npm", type="build", when="+page")
    depends_on("llvm@19 +clang +llvm_dylib", type=("build", "link", "run"))
    depends_on("cuda@13:", type=("build", "run"))
    depends_on("boost@1.74: +context", type=("build", "link", "run"))
    depends_on("cli11", type="build")
    depends_on("eigen", type="build")
    depends_on("fmt@9")
    depends_on("intel-oneapi-tbb", type=("build", "link", "run"))
    depends_on("nlohmann-json", type="build")
    depends_on("random123", type="build")
    depends_on("sqlite")
    depends_on("tl-expected", type="build")
    depends_on("tomlplusplus")
    depends_on("xxhash")
    depends_on("zstd", type=("build", "link", "run"))
    depends_on("mpi", when="+mpi")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("WARPLENS_TESTS", False),
            self.define("WARPLENS_LLVM", self.spec["llvm"].prefix),
            self.define_from_variant("WARPLENS_MPI", "mpi"),
            self.define_from_variant("WARPLENS_PAGE", "page"),
        ]

    def setup_run_environment(self, env):
        env.set("CUDA_PATH", self.spec["cuda"].prefix)
