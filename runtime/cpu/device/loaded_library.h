// Tells libraries of a program apart by their addresses.
#pragma once

namespace warplens::cpu {

/// Returns where the program or library lies that the address belongs to; null if it belongs to none. Unlike
/// dladdr it takes no lock: a thread that loads or unloads a library holds the loader's while it waits for
/// ours.
const void* library_of(const void* address);

} // namespace warplens::cpu
