// The resources that can bound a kernel's time, one row each.
#pragma once

#include "vocabulary/access.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace warplens {

/// Each of these can bound a kernel's time: the issue of instructions; the memory pipeline of an SM, by
/// passes of accesses to global memory, or by passes of banks of shared memory; the constant cache of an SM,
/// which serves the addresses of an access one after the other; the SM's port to the L2; the L2's slices, by
/// sectors, or by atomics; the way between the L2's partitions; the channels of DRAM; an SM's
/// execution pipes of a kind.
enum class Resource : std::uint8_t {
  issue,
  memory_pipeline,
  shared_banks,
  constant_pipe,
  l2_port,
  l2_slices,
  atomics,
  fabric,
  dram,
  fp32_pipe,
  fp64_pipe,
  fp16_pipe,
  integer_pipe,
  special_function_pipe,
  tensor_pipe
};

struct ResourceTraits {
  Resource resource;
  std::string_view name;  ///< in results
  std::string_view title; ///< in a list for people
  std::string_view work;  ///< what a site can have a share of
};

/// In the order of the resources.
inline constexpr ResourceTraits resource_traits[] = {
    {Resource::issue, "issue", "instruction issue", "the issue slots in use"},
    {Resource::memory_pipeline, "memory_pipeline", "memory pipeline", "the memory pipeline's passes"},
    {Resource::shared_banks, "shared_banks", "shared memory banks",
     "the passes over the shared memory banks"},
    {Resource::constant_pipe, "constant_pipe", "constant cache", "the further addresses in constant memory"},
    {Resource::l2_port, "l2_port", "L2 port", "the SMs' traffic with the L2"},
    {Resource::l2_slices, "l2_slices", "L2 slices", "the L2 slices' sectors"},
    {Resource::atomics, "atomics", "L2 atomics", "the L2's atomics"},
    {Resource::fabric, "fabric", "L2 fabric", "the traffic between the L2's partitions"},
    {Resource::dram, "dram", "DRAM", "the DRAM traffic"},
    {Resource::fp32_pipe, "fp32_pipe", "FP32 pipe", "the single-precision arithmetic"},
    {Resource::fp64_pipe, "fp64_pipe", "FP64 pipe", "the double-precision arithmetic"},
    {Resource::fp16_pipe, "fp16_pipe", "FP16 pipe", "the half-precision arithmetic"},
    {Resource::integer_pipe, "integer_pipe", "integer pipe", "the integer arithmetic"},
    {Resource::special_function_pipe, "special_function_pipe", "special function pipe (XU)",
     "the special functions and conversions"},
    {Resource::tensor_pipe, "tensor_pipe", "tensor pipe", "the matrix products"},
};
inline constexpr std::size_t resource_count = std::size(resource_traits);
using ByResource = std::array<double, resource_count>;

constexpr const ResourceTraits& traits_of(Resource resource) {
  return resource_traits[static_cast<std::size_t>(resource)];
}

/// Returns the resource's own share.
constexpr double share_of(const ByResource& shares, Resource resource) {
  return shares[static_cast<std::size_t>(resource)];
}

/// Returns the name in a list: "L2 slices".
constexpr std::string_view text_of(Resource resource) {
  return traits_of(resource).title;
}

/// Returns what bounds a kernel's time: a resource, or "latency".
constexpr std::string_view text_of_bound(std::optional<Resource> bound) {
  return bound ? text_of(*bound) : "latency";
}

/// Returns what a site can have a share of: "the sectors of the L2's slices".
constexpr std::string_view work_of(Resource resource) {
  return traits_of(resource).work;
}

template <>
inline constexpr std::array<std::string_view, resource_count> names_of<Resource> = [] {
  std::array<std::string_view, resource_count> names;
  for (std::size_t i = 0; i < resource_count; ++i) {
    names[i] = resource_traits[i].name;
    if (resource_traits[i].resource != Resource(i))
      throw "a row is not in the order of the resources";
  }
  return names;
}();

} // namespace warplens
