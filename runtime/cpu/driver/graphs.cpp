// Graphs, and what captures them: CUDA Driver API, "Graph Management". The handles are the runtime's, and a
// function is its own address for the runtime's kernels.
#include "runtime/cpu/driver/result.h"

#include <algorithm>

using namespace warplens::cpu;

namespace {

cudaKernelNodeParams kernel_of(const CUDA_KERNEL_NODE_PARAMS& given) {
  cudaKernelNodeParams params = {};
  params.func = given.func ? static_cast<void*>(given.func) : static_cast<void*>(given.kern);
  params.gridDim = dim3(given.gridDimX, given.gridDimY, given.gridDimZ);
  params.blockDim = dim3(given.blockDimX, given.blockDimY, given.blockDimZ);
  params.sharedMemBytes = given.sharedMemBytes;
  params.kernelParams = given.kernelParams;
  params.extra = given.extra;
  return params;
}

/// Calls `then(params)` with the runtime's parameters of a kernel's node.
template <class Then> CUresult with_kernel(const CUDA_KERNEL_NODE_PARAMS* given, Then then) {
  if (!given)
    return CUDA_ERROR_INVALID_VALUE;
  if (!given->kernelParams && given->extra) {
    say_refused("cuGraphAddKernelNode", "its nodes take a kernel's parameters one by one");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const cudaKernelNodeParams params = kernel_of(*given);
  return result_of(then(&params));
}

} // namespace

extern "C" {

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return result_of(cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode)));
}
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* edges, std::size_t count,
                                     CUstreamCaptureMode mode) {
  return result_of(cudaStreamBeginCaptureToGraph(stream, graph, dependencies,
                                                 reinterpret_cast<const cudaGraphEdgeData*>(edges), count,
                                                 static_cast<cudaStreamCaptureMode>(mode)));
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return result_of(cudaStreamEndCapture(stream, graph));
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return result_of(cudaThreadExchangeStreamCaptureMode(reinterpret_cast<cudaStreamCaptureMode*>(mode)));
}

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return result_of(cudaGraphCreate(graph, flags));
}
CUresult cuGraphDestroy(CUgraph graph) {
  return result_of(cudaGraphDestroy(graph));
}
CUresult cuGraphClone(CUgraph* clone, CUgraph graph) {
  return result_of(cudaGraphClone(clone, graph));
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return result_of(cudaGraphGetNodes(graph, nodes, count));
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return result_of(cudaGraphGetRootNodes(graph, nodes, count));
}
CUresult cuGraphDestroyNode(CUgraphNode node) {
  return result_of(cudaGraphDestroyNode(node));
}

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_KERNEL_NODE_PARAMS* params) {
  return with_kernel(params, [&](const cudaKernelNodeParams* kernel) {
    return cudaGraphAddKernelNode(node, graph, dependencies, count, kernel);
  });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  return with_kernel(
      params, [&](const cudaKernelNodeParams* kernel) { return cudaGraphKernelNodeSetParams(node, kernel); });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec graph, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS* params) {
  return with_kernel(params, [&](const cudaKernelNodeParams* kernel) {
    return cudaGraphExecKernelNodeSetParams(graph, node, kernel);
  });
}
CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                             std::size_t count) {
  return result_of(cudaGraphAddEmptyNode(node, graph, dependencies, count));
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                  std::size_t count, CUgraph child) {
  return result_of(cudaGraphAddChildGraphNode(node, graph, dependencies, count, child));
}
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            std::size_t count, const CUDA_HOST_NODE_PARAMS* params) {
  if (!params)
    return CUDA_ERROR_INVALID_VALUE;
  const cudaHostNodeParams host{params->fn, params->userData};
  return result_of(cudaGraphAddHostNode(node, graph, dependencies, count, &host));
}
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  if (!params)
    return CUDA_ERROR_INVALID_VALUE;
  cudaMemsetParams fill = {};
  fill.dst = pointer(params->dst);
  fill.pitch = params->pitch;
  fill.value = params->value;
  fill.elementSize = params->elementSize;
  fill.width = params->width;
  fill.height = params->height;
  return result_of(cudaGraphAddMemsetNode(node, graph, dependencies, count, &fill));
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                const CUgraphEdgeData* edges, std::size_t count) {
  return result_of(
      cudaGraphAddDependencies(graph, from, to, reinterpret_cast<const cudaGraphEdgeData*>(edges), count));
}

CUresult cuGraphInstantiate(CUgraphExec* made, CUgraph graph, unsigned long long flags) {
  return result_of(cudaGraphInstantiate(made, graph, flags));
}
CUresult cuGraphUpload(CUgraphExec graph, CUstream stream) {
  return result_of(cudaGraphUpload(graph, stream));
}
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  return result_of(cudaGraphLaunch(graph, stream));
}
CUresult cuGraphExecDestroy(CUgraphExec graph) {
  return result_of(cudaGraphExecDestroy(graph));
}
CUresult cuGraphExecUpdate(CUgraphExec graph, CUgraph from, CUgraphExecUpdateResultInfo* result) {
  static_assert(sizeof *result == sizeof(cudaGraphExecUpdateResultInfo));
  return result_of(
      cudaGraphExecUpdate(graph, from, reinterpret_cast<cudaGraphExecUpdateResultInfo*>(result)));
}

/// Tries blocks of whole warps, the largest first, and takes that with the most threads on an SM.
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* blocks, int* threads, CUfunction function,
                                                   CUoccupancyB2DSize bytes_of, std::size_t bytes, int limit,
                                                   unsigned flags) {
  if (!blocks || !threads)
    return CUDA_ERROR_INVALID_VALUE;
  cudaFuncAttributes attributes;
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, function); error != cudaSuccess)
    return result_of(error);
  const int most = limit > 0 ? std::min(limit, attributes.maxThreadsPerBlock) : attributes.maxThreadsPerBlock;
  int best = 0, best_blocks = 0;
  for (int size = (most + 31) / 32 * 32; size > 0; size -= 32) {
    const int tried = std::min(size, most);
    int per_sm = 0;
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &per_sm, function, tried, bytes_of ? bytes_of(tried) : bytes, flags);
    if (error != cudaSuccess)
      return result_of(error);
    if (per_sm * tried > best * best_blocks)
      best = tried, best_blocks = per_sm;
  }
  int sms = 0;
  const cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  *threads = best;
  *blocks = best_blocks * sms;
  return result_of(error);
}
CUresult cuOccupancyMaxPotentialBlockSize(int* blocks, int* threads, CUfunction function,
                                          CUoccupancyB2DSize bytes_of, std::size_t bytes, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(blocks, threads, function, bytes_of, bytes, limit, 0);
}

} // extern "C"
