// Recognises the system that Warplens runs in: a plain Linux, WSL, or a container.
#pragma once

#include "driver/stages/diagnose.h"

#include <filesystem>

namespace warplens::driver {

/// NVIDIA's driver for Linux programs under WSL 2, which Windows' driver brings; it is not where the linker
/// looks by itself.
inline constexpr const char* wsl_driver_folder = "usr/lib/wsl/lib";

/// Says what the system is: WSL by its kernel's version, a container by the files that Docker and Podman
/// leave or by the variable `container` of its first process, with the processors and the memory that its
/// control group may use. `root` is the folder in which these files are looked for, "/" but in tests;
/// `is_on_windows_disk`: the current folder is.
Diagnosis host_system(const std::filesystem::path& root, bool is_on_windows_disk);

/// Returns whether the current folder is one of Windows' that WSL shows by its file server (9P).
bool is_on_windows_disk();

} // namespace warplens::driver
