#include "report/resource_text.h"

namespace warplens::report {

double share_of(const ByResource& shares, Resource resource) {
  return shares[static_cast<std::size_t>(resource)];
}

std::string_view text_of(Resource resource) {
  switch (resource) {
  case Resource::issue: return "instruction issue";
  case Resource::fp32_pipe: return "FP32 pipe";
  case Resource::fp64_pipe: return "FP64 pipe";
  case Resource::fp16_pipe: return "FP16 pipe";
  case Resource::integer_pipe: return "integer pipe";
  case Resource::special_function_pipe: return "special function pipe (XU)";
  case Resource::tensor_pipe: return "tensor pipe";
  case Resource::memory_pipeline: return "memory pipeline";
  case Resource::shared_banks: return "shared memory banks";
  case Resource::constant_pipe: return "constant cache";
  case Resource::l2_port: return "L2 port";
  case Resource::l2_slices: return "L2 slices";
  case Resource::atomics: return "L2 atomics";
  case Resource::fabric: return "L2 fabric";
  case Resource::dram: return "DRAM";
  }
  return "";
}

std::string_view text_of_bound(std::optional<Resource> bound) {
  return bound ? text_of(*bound) : "latency";
}

std::string_view work_of(Resource resource) {
  switch (resource) {
  case Resource::issue: return "the issue slots in use";
  case Resource::fp32_pipe: return "the single-precision arithmetic";
  case Resource::fp64_pipe: return "the double-precision arithmetic";
  case Resource::fp16_pipe: return "the half-precision arithmetic";
  case Resource::integer_pipe: return "the integer arithmetic";
  case Resource::special_function_pipe: return "the special functions and conversions";
  case Resource::tensor_pipe: return "the matrix products";
  case Resource::memory_pipeline: return "the memory pipeline's passes";
  case Resource::shared_banks: return "the passes over the shared memory banks";
  case Resource::constant_pipe: return "the further addresses in constant memory";
  case Resource::l2_port: return "the SMs' traffic with the L2";
  case Resource::l2_slices: return "the L2 slices' sectors";
  case Resource::atomics: return "the L2's atomics";
  case Resource::fabric: return "the traffic between the L2's partitions";
  case Resource::dram: return "the DRAM traffic";
  }
  return "";
}

} // namespace warplens::report
