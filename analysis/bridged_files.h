// Sources as Clang sees them: what nvcc spells in a way that Clang refuses is respelt while the file is read.
#pragma once

#include <llvm/ADT/IntrusiveRefCntPtr.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <optional>
#include <string>
#include <string_view>

namespace warplens::analysis {

/// The text as Clang takes it; nothing where that is what it is. The length stays and so does every token's
/// offset but those of the declaration specifiers that change places:
///
///     k<< <grid, block>> >(…)               k<<< grid, block>>> (…)
///     extern __shared__ alignas(16) T s[];  alignas(16)extern __shared__  T s[];
///
/// The destructor of cuda::barrier loses its body: nvcc runs it for no __shared__ object, and Clang takes no
/// such object whose destructor does something.
std::optional<std::string> respell(std::string_view text);

/// The real files, respelt.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> bridged_files();

} // namespace warplens::analysis
