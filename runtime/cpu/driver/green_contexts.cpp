// Contexts with a part of the device's SMs: CUDA Driver API, "Green Contexts". Work in them runs as
// elsewhere, and is modelled on all SMs.
#include "runtime/cpu/cudart/device_properties.h"
#include "runtime/cpu/driver/result.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

using namespace warplens::cpu;

struct CUdevResourceDesc_st {
  CUdevResource resource;
};
struct CUgreenCtx_st {
  CUdevResource resource;
};

namespace {

std::mutex mutex;
/// Descriptors live until the process ends: CUDA has no function that frees them.
std::vector<std::unique_ptr<CUdevResourceDesc_st>>& descriptions() {
  static auto& all = *new std::vector<std::unique_ptr<CUdevResourceDesc_st>>;
  return all;
}
std::map<CUgreenCtx, std::unique_ptr<CUgreenCtx_st>>& contexts() {
  static auto& all = *new std::map<CUgreenCtx, std::unique_ptr<CUgreenCtx_st>>;
  return all;
}
std::map<CUstream, CUgreenCtx>& streams() {
  static auto& all = *new std::map<CUstream, CUgreenCtx>;
  return all;
}

bool is_context(CUgreenCtx context) {
  const std::scoped_lock lock(mutex);
  return contexts().contains(context);
}

/// The fewest SMs of a part, and of what its number is a multiple (cuDevSmResourceSplitByCount()).
unsigned min_part() {
  return capability() >= 90 ? 8 : capability() >= 80 ? 4 : 2;
}
unsigned step_of_parts() {
  return capability() >= 90 ? 8 : 2;
}

CUdevResource sms(unsigned count) {
  CUdevResource resource{};
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource.sm = {count, min_part(), step_of_parts()};
  return resource;
}

CUresult write_resource(CUdevResource* to, CUdevResourceType type, const CUdevResource& resource) {
  if (!to || type != CU_DEV_RESOURCE_TYPE_SM)
    return to ? CUDA_ERROR_INVALID_RESOURCE_TYPE : CUDA_ERROR_INVALID_VALUE;
  *to = resource;
  return CUDA_SUCCESS;
}

} // namespace

extern "C" {

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  return write_resource(resource, type, sms(static_cast<unsigned>(properties().multiProcessorCount)));
}
CUresult cuCtxGetDevResource(CUcontext, CUdevResource* resource, CUdevResourceType type) {
  return cuDeviceGetDevResource(0, resource, type);
}
CUresult cuGreenCtxGetDevResource(CUgreenCtx context, CUdevResource* resource, CUdevResourceType type) {
  return is_context(context) ? write_resource(resource, type, context->resource) : CUDA_ERROR_INVALID_CONTEXT;
}

/// Without `result` only the number of parts is wanted.
CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned* parts, const CUdevResource* input,
                                     CUdevResource* remaining, unsigned, unsigned least) {
  if (!parts || !input || input->type != CU_DEV_RESOURCE_TYPE_SM)
    return CUDA_ERROR_INVALID_VALUE;
  const unsigned step = step_of_parts();
  const unsigned of_part = (std::max(least, min_part()) + step - 1) / step * step;
  const unsigned all = input->sm.smCount, most = all / of_part;
  if (most == 0)
    return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  *parts = result ? std::min(*parts, most) : most;
  if (result)
    std::fill_n(result, *parts, sms(of_part));
  if (remaining) {
    *remaining = sms(all - *parts * of_part);
    if (remaining->sm.smCount == 0)
      remaining->type = CU_DEV_RESOURCE_TYPE_INVALID;
  }
  return CUDA_SUCCESS;
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* description, CUdevResource* resources, unsigned count) {
  if (!description || !resources || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  unsigned all = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM)
      return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    all += resources[i].sm.smCount;
  }
  const std::scoped_lock lock(mutex);
  *description = descriptions()
                     .emplace_back(std::make_unique<CUdevResourceDesc_st>(CUdevResourceDesc_st{sms(all)}))
                     .get();
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx* context, CUdevResourceDesc description, CUdevice device,
                          unsigned flags) {
  if (!context || !description || flags != CU_GREEN_CTX_DEFAULT_STREAM)
    return CUDA_ERROR_INVALID_VALUE;
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  auto made = std::make_unique<CUgreenCtx_st>(CUgreenCtx_st{description->resource});
  const std::scoped_lock lock(mutex);
  *context = made.get();
  contexts().emplace(*context, std::move(made));
  return CUDA_SUCCESS;
}
CUresult cuGreenCtxDestroy(CUgreenCtx context) {
  const std::scoped_lock lock(mutex);
  std::erase_if(streams(), [&](const auto& stream) { return stream.second == context; });
  return contexts().erase(context) != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
/// The memory is that of the primary context.
CUresult cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx green) {
  return is_context(green) ? cuDevicePrimaryCtxRetain(context, 0) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx context, unsigned flags, int priority) {
  if (!is_context(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  if (flags != CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = cuStreamCreateWithPriority(stream, flags, priority);
  if (result == CUDA_SUCCESS) {
    const std::scoped_lock lock(mutex);
    streams()[*stream] = context;
  }
  return result;
}
CUresult cuStreamGetGreenCtx(CUstream stream, CUgreenCtx* context) {
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  const std::scoped_lock lock(mutex);
  const auto found = streams().find(stream);
  *context = found == streams().end() ? nullptr : found->second;
  return CUDA_SUCCESS;
}

/// All that was issued before has run.
CUresult cuGreenCtxRecordEvent(CUgreenCtx context, CUevent event) {
  return is_context(context) ? cuEventRecord(event, nullptr) : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuGreenCtxWaitEvent(CUgreenCtx context, CUevent event) {
  return is_context(context) ? cuStreamWaitEvent(nullptr, event, 0) : CUDA_ERROR_INVALID_CONTEXT;
}

} // extern "C"
