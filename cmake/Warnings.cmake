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

# warplens_use_common_headers(target): what most files of the components include of libraries is parsed once for all of them, where files are
# compiled together anyway; without that, each file shows what it lacks. All of these targets link fmt::fmt, as their definitions must be the same.
set(warplens_common_headers <algorithm> <array> <filesystem> <functional> <map> <memory> <optional> <set> <span> <string> <vector>
  <fmt/format.h> <nlohmann/json.hpp> ${PROJECT_SOURCE_DIR}/support/expected.h)
function(warplens_use_common_headers target)
  if(CMAKE_UNITY_BUILD AND target STREQUAL warplens_support)
    target_precompile_headers(${target} PRIVATE ${warplens_common_headers})
  elseif(CMAKE_UNITY_BUILD)
    target_precompile_headers(${target} REUSE_FROM warplens_support)
  endif()
endfunction()
