# The flags every target of ours is built with; libraries' headers are SYSTEM and stay out of it.
add_library(warplens_flags INTERFACE)
target_compile_options(warplens_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers)
if(WARPLENS_WERROR)
  target_compile_options(warplens_flags INTERFACE -Werror)
endif()
target_include_directories(warplens_flags INTERFACE ${PROJECT_SOURCE_DIR})
if(WARPLENS_SANITIZE)
  target_compile_options(warplens_flags INTERFACE -fsanitize=${WARPLENS_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(warplens_flags INTERFACE -fsanitize=${WARPLENS_SANITIZE})
endif()

# warplens_llvm: what the rooms that link Clang and LLVM add.
add_library(warplens_llvm INTERFACE)
target_include_directories(warplens_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${CLANG_INCLUDE_DIRS})
target_compile_definitions(warplens_llvm INTERFACE ${LLVM_DEFINITIONS_LIST})
