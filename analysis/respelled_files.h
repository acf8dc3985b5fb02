// Sources as Clang sees them: code that nvcc accepts and Clang refuses is respelt while the file is read.
#pragma once

#include <llvm/ADT/IntrusiveRefCntPtr.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <optional>
#include <string>
#include <string_view>

namespace warplens::analysis {

/// Returns the text in Clang's spelling, or nothing if it needs no change. The length stays and so does every
/// token's offset but those of the declaration specifiers that change places:
///
///     k<< <grid, block>> >(…)               k<<< grid, block>>> (…)
///     extern __shared__ alignas(16) T s[];  alignas(16)extern __shared__  T s[];
///
/// The destructor of cuda::barrier loses its body: nvcc runs it for no __shared__ object, and Clang takes no
/// such object whose destructor does something.
std::optional<std::string> respell(std::string_view text);

/// Returns a file system that shows the real files, respelt.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> respelled_files();

} // namespace warplens::analysis
