// How both halves of a source name its __managed__ variables. On the CPU back end the host half defines them,
// and device code refers to them.
#pragma once

namespace warplens::cpu {

/// The section that the compatibility header puts them into (runtime/compatibility/clang/managed.h).
inline constexpr char managed_section[] = "warplens_managed";

/// The prefix of the variable's name in objects. Where the code is not relocatable, the symbol becomes
/// local as soon as the halves are joined: files may each have a variable of the name, as under nvcc.
inline constexpr char managed_prefix[] = "__warplens_managed_";

} // namespace warplens::cpu
