# Packages: `cpack` in the build tree writes a Debian package and a tarball. The package depends on what compiles programs for the CPU
# back end; the CUDA Toolkit is not Debian's, and is looked for when Warplens runs.
include(CMakePackageConfigHelpers)

# find_package(warplens) in a user's project.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warplens-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/warplens-config.cmake ${PROJECT_BINARY_DIR}/warplens-config-version.cmake
        DESTINATION lib/cmake/warplens)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/copyright DESTINATION share/doc/warplens)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/lintian-overrides DESTINATION share/lintian/overrides RENAME warplens)

# Debian's changelog, compressed without a name or a time so that the package is the same bytes each time.
install(PROGRAMS ${PROJECT_SOURCE_DIR}/ci/gate DESTINATION share/warplens/ci)
install(FILES ${PROJECT_SOURCE_DIR}/ci/action.yml DESTINATION share/warplens/ci)

set(changelog ${PROJECT_BINARY_DIR}/packaging/changelog.Debian.gz)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/packaging)
execute_process(COMMAND ${WARPLENS_GZIP} -9 -n -c ${PROJECT_SOURCE_DIR}/packaging/debian/changelog OUTPUT_FILE ${changelog})
install(FILES ${changelog} DESTINATION share/doc/warplens)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME warplens)
set(CPACK_PACKAGE_VENDOR Warplens)
set(CPACK_PACKAGE_CONTACT "Warplens maintainers <maintainers@warplens.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "memory profiler for CUDA programs that needs no GPU")
set(CPACK_PACKAGE_DESCRIPTION
  "Warplens says line by line what the memory hierarchy of a GPU does to each
access of a CUDA program: hit rates of L1 and L2, sectors, stalls, and the
share of the kernel's time, each with its interval.
.
It compiles the program with probes, runs it on the CPU, and replays its
accesses through a model of the GPU that is asked about. It needs neither a
GPU nor counters. The CUDA Toolkit 13 has to be installed beside it.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
# Of whatever umask: Debian wants 0755.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What compiles and links a program for the CPU back end: Clang, the C++ library's headers, objcopy, and the libraries that the
# runtime's linker scripts name.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "clang-19, g++, binutils, libboost-context-dev, libtbb-dev, libzstd-dev")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libomp-19-dev, liblapack3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gnuplot-nox, openmpi-bin")

include(CPack)
