# The flags every target of ours is built with; libraries' headers are SYSTEM and stay out of it.
add_library(warplens_flags INTERFACE)
target_compile_options(warplens_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers)
# Clang blames us for libstdc++'s own deprecated std::get_temporary_buffer wherever std::stable_sort is used.
target_compile_options(warplens_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(WARPLENS_WERROR)
  target_compile_options(warplens_flags INTERFACE -Werror)
endif()
target_include_directories(warplens_flags INTERFACE ${PROJECT_SOURCE_DIR})
if(WARPLENS_SANITIZE)
  target_compile_options(warplens_flags INTERFACE -fsanitize=${WARPLENS_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(warplens_flags INTERFACE -fsanitize=${WARPLENS_SANITIZE})
endif()

# warplens_quick_build: for components whose speed does not matter to users, as the time is spent in LLVM, in compilers that they start or
# in the model, and for tests. -O1 takes a third less time than -O3.
add_library(warplens_quick_build INTERFACE)
target_compile_options(warplens_quick_build INTERFACE $<$<CONFIG:Release>:-O1>)

# warplens_quickest_build: for tests that compute little. -O0 takes half the time of -O1.
add_library(warplens_quickest_build INTERFACE)
target_compile_options(warplens_quickest_build INTERFACE $<$<CONFIG:Release>:-O0>)

# warplens_llvm: what the components that link Clang and LLVM add.
add_library(warplens_llvm INTERFACE)
target_include_directories(warplens_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${CLANG_INCLUDE_DIRS})
target_compile_definitions(warplens_llvm INTERFACE ${LLVM_DEFINITIONS_LIST})
