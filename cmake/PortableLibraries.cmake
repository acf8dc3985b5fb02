# Archives in place of shared libraries, and an older C library: objects are compiled as ever, and what they call is looked for in
# WARPLENS_PORTABLE_ROOT, which packaging/portable/prepare_root makes. A function that the older C library
# lacks is an error when linking. That one has threads and the like in libraries of their own.
set(library_folder ${WARPLENS_PORTABLE_ROOT}/usr/lib/x86_64-linux-gnu)
add_link_options(--sysroot=${WARPLENS_PORTABLE_ROOT} -static-libstdc++ -static-libgcc)

add_library(warplens_no_polly STATIC ${PROJECT_SOURCE_DIR}/packaging/portable/no_polly.cpp)
target_include_directories(warplens_no_polly SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})

# The archives of Clang and LLVM depend on each other; the linker takes what is needed of them.
file(GLOB WARPLENS_LLVM_LIBRARIES ${WARPLENS_PORTABLE_ROOT}${WARPLENS_LLVM}/lib/libclang[A-Z]*.a ${WARPLENS_PORTABLE_ROOT}${WARPLENS_LLVM}/lib/libLLVM*.a)
list(APPEND WARPLENS_LLVM_LIBRARIES warplens_no_polly ${library_folder}/libz.a ${library_folder}/libzstd.a ${library_folder}/libtinfo.a ${CMAKE_DL_LIBS} Threads::Threads)
set(WARPLENS_CLANG_LIBRARIES ${WARPLENS_LLVM_LIBRARIES})
set(LLVM_LIBRARY_DIRS "")

function(warplens_link_archive target archive) # and what the archive needs
  get_target_property(is_interface ${target} TYPE)
  if(NOT is_interface STREQUAL INTERFACE_LIBRARY)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${archive} IMPORTED_CONFIGURATIONS "" MAP_IMPORTED_CONFIG_RELEASE "")
    set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${ARGN})
  else()
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${archive};${ARGN}")
  endif()
endfunction()
warplens_link_archive(PkgConfig::zstd ${library_folder}/libzstd.a)
warplens_link_archive(PkgConfig::sqlite3 ${library_folder}/libsqlite3.a m ${CMAKE_DL_LIBS} Threads::Threads)
warplens_link_archive(Boost::context ${library_folder}/libboost_context.a)
warplens_link_archive(TBB::tbb ${WARPLENS_PORTABLE_ROOT}/usr/local/lib/libtbb.a ${CMAKE_DL_LIBS} Threads::Threads)
warplens_link_archive(fmt::fmt ${library_folder}/libfmt.a)

# Debian has no archive of it; its headers are all of it.
file(WRITE ${PROJECT_BINARY_DIR}/packaging/toml.cpp "#include <toml++/toml.h>\n")
add_library(warplens_toml STATIC ${PROJECT_BINARY_DIR}/packaging/toml.cpp)
target_compile_definitions(warplens_toml PRIVATE TOML_HEADER_ONLY=0 TOML_IMPLEMENTATION=1)
set_target_properties(PkgConfig::tomlplusplus PROPERTIES INTERFACE_LINK_LIBRARIES warplens_toml)

add_library(warplens_older_glibc STATIC ${PROJECT_SOURCE_DIR}/packaging/portable/older_glibc.c)
link_libraries(warplens_older_glibc -lpthread -ldl -lm)
