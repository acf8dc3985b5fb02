// The program `warplens-launch`: launches one kernel of a module by the driver API, as `warplens profile`
// has planned it. It stands for the host side of a JIT compiler, which left no more than the module.
//
// The plan is JSON: "module" (a file), "kernel" (mangled), "grid", "block" and "cluster" (three numbers
// each), "shared" (bytes), and "arguments", each of which is a buffer, a tensor map over one, a "scalar" of a
// "type", or "bytes" (a value, in hexadecimal). A buffer has "type", "count", "fill" ("value", "iota",
// "random" or "file") with its figures, and where its bytes go after the launch, "save"; or "same_as", the
// number of an earlier argument whose memory it shares.
#include "runtime/cpu/launcher/fill.h"
#include "support/files.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cuda.h>
#include <fmt/format.h>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace warplens;

namespace {

using Json = nlohmann::json;

Expected<void> succeed(CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS)
    return {};
  const char *name = "an unknown error", *text = "";
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  return fail("{}: {} ({})", what, text, name);
}

/// The memory of an argument.
struct Buffer {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  std::string save; ///< a file; empty: none
};

Expected<Buffer> make_buffer(const Json& plan, const std::vector<Buffer>& earlier) {
  if (plan.contains("same_as"))
    return Buffer{earlier.at(plan["same_as"].get<std::size_t>()).address, 0, {}};
  TRY_LET(contents, launcher::contents_of(plan));
  Buffer buffer{0, contents->size(), plan.value("save", "")};
  TRY(succeed(cuMemAlloc(&buffer.address, buffer.bytes), fmt::format("a buffer of {} bytes", buffer.bytes)));
  TRY(succeed(cuMemcpyHtoD(buffer.address, contents->data(), buffer.bytes), "a copy to a buffer"));
  return buffer;
}

Expected<CUtensorMap> make_tensor_map(const Json& plan, CUdeviceptr address) {
  std::array<cuuint64_t, 5> sizes{}, strides{};
  std::array<cuuint32_t, 5> box{}, element_strides{1, 1, 1, 1, 1};
  const std::size_t rank = plan["sizes"].size();
  for (std::size_t i = 0; i < rank; ++i) {
    sizes[i] = plan["sizes"][i];
    box[i] = plan["box"][i];
    if (i + 1 < rank)
      strides[i] = plan["strides"][i];
  }
  CUtensorMap map{};
  TRY(succeed(cuTensorMapEncodeTiled(&map, static_cast<CUtensorMapDataType>(plan["data_type"].get<int>()),
                                     static_cast<cuuint32_t>(rank), reinterpret_cast<void*>(address),
                                     sizes.data(), strides.data(), box.data(), element_strides.data(),
                                     CU_TENSOR_MAP_INTERLEAVE_NONE,
                                     static_cast<CUtensorMapSwizzle>(plan["swizzle"].get<int>()),
                                     CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
              "a tensor map"));
  return map;
}

std::string bytes_of(const void* value, std::size_t bytes) {
  return std::string(static_cast<const char*>(value), bytes);
}

/// Returns the value that a plan has in hexadecimal.
std::string value_of(const std::string& digits) {
  std::string value;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    value += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return value;
}

Expected<CUfunction> load_kernel(const Json& plan) {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  TRY(succeed(cuInit(0), "the driver API"));
  TRY(succeed(cuDevicePrimaryCtxRetain(&context, 0), "the device"));
  TRY(succeed(cuCtxSetCurrent(context), "the device"));
  TRY(succeed(cuModuleLoad(&module, plan["module"].get<std::string>().c_str()), "the module"));
  TRY(succeed(cuModuleGetFunction(&kernel, module, plan["kernel"].get<std::string>().c_str()), "the kernel"));
  if (const int shared = plan["shared"]; shared > 48 * 1024)
    TRY(succeed(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared),
                fmt::format("{} bytes of dynamic shared memory", shared)));
  return kernel;
}

Expected<void> launch(const Json& plan) {
  TRY_LET(kernel, load_kernel(plan));
  std::vector<Buffer> buffers;
  std::vector<std::string> values;
  for (const Json& argument : plan["arguments"]) {
    Buffer& buffer = buffers.emplace_back();
    if (argument.contains("bytes") || argument.contains("scalar")) {
      values.push_back(argument.contains("bytes") ? value_of(argument["bytes"])
                                                  : launcher::scalar_of(argument));
      continue;
    }
    TRY_LET(made, make_buffer(argument, buffers));
    buffer = *made;
    if (argument.contains("tensor_map")) {
      TRY_LET(map, make_tensor_map(argument["tensor_map"], buffer.address));
      values.push_back(bytes_of(&*map, sizeof *map));
    } else
      values.push_back(bytes_of(&buffer.address, sizeof buffer.address));
  }
  std::vector<void*> arguments;
  for (std::string& value : values)
    arguments.push_back(value.data());

  const auto three = [&](const char* key) { return plan[key].get<std::array<unsigned, 3>>(); };
  const auto grid = three("grid"), block = three("block"), cluster = three("cluster");
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {cluster[0], cluster[1], cluster[2]};
  CUlaunchConfig config{};
  config.gridDimX = grid[0], config.gridDimY = grid[1], config.gridDimZ = grid[2];
  config.blockDimX = block[0], config.blockDimY = block[1], config.blockDimZ = block[2];
  config.sharedMemBytes = plan["shared"];
  config.attrs = &attribute;
  config.numAttrs = cluster == std::array<unsigned, 3>{1, 1, 1} ? 0 : 1;
  TRY(succeed(cuLaunchKernelEx(&config, *kernel, arguments.data(), nullptr), "the launch"));
  TRY(succeed(cuCtxSynchronize(), "the kernel"));
  for (const Buffer& buffer : buffers)
    if (!buffer.save.empty()) {
      std::string contents(buffer.bytes, '\0');
      TRY(succeed(cuMemcpyDtoH(contents.data(), buffer.address, buffer.bytes), "a copy of a buffer"));
      TRY(write_file(buffer.save, contents));
    }
  return {};
}

Expected<void> launch_file(const char* file) {
  TRY_LET(text, read_file(file));
  return launch(Json::parse(*text));
}

} // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: warplens-launch PLAN.json (warplens profile writes the plan)\n", stderr);
    return 2;
  }
  const auto launched = [&]() -> Expected<void> {
    try {
      return launch_file(arguments[1]);
    } catch (const std::bad_alloc&) {
      return fail("there is too little memory for the buffers");
    }
  }();
  if (!launched)
    std::fprintf(stderr, "warplens: %s\n", launched.error().message.c_str());
  return launched ? 0 : 1;
}
