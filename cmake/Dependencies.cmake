# Every library here is a Debian 12 package; tools/packages.txt names them.
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(TBB REQUIRED)
find_package(Boost REQUIRED COMPONENTS context)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus)

set(WARPLENS_LLVM /usr/lib/llvm-19 CACHE PATH "Where LLVM 19 and Clang 19 are installed")
find_package(LLVM 19.1 REQUIRED CONFIG PATHS ${WARPLENS_LLVM}/lib/cmake/llvm)
find_package(Clang REQUIRED CONFIG NO_DEFAULT_PATH PATHS ${LLVM_LIBRARY_DIR}/cmake/clang) # of that LLVM, not of another
set(WARPLENS_LLVM_LIBRARIES LLVM-19)
set(WARPLENS_CLANG_LIBRARIES clang-cpp LLVM)

set(WARPLENS_PORTABLE_ROOT "" CACHE PATH "Link for the C library in this folder, and all other libraries statically (packaging/portable)")
if(WARPLENS_PORTABLE_ROOT)
  include(cmake/PortableLibraries.cmake)
endif()

option(WARPLENS_MPI "Trials over MPI, where it is found" ON)
if(WARPLENS_MPI)
  find_package(MPI QUIET COMPONENTS C)
endif()
find_package(benchmark QUIET) # without it there is no target `bench`

if(WARPLENS_TESTS)
  find_package(Catch2 REQUIRED)
endif()
