// flags: -arch=sm_90 -std=c++17
// gpu: h100-sxm
// Graphs of all kinds of nodes, updates; programmatic launches; attributes; pools; events; occupancy; entry points.
#include "../expect.h"
#include <cstring>
__global__ void add(int* x, int n, int by) { const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += by; }
__global__ void first(int* x) { x[threadIdx.x] = threadIdx.x; cudaTriggerProgrammaticLaunchCompletion(); }
__global__ void second(const int* x, int* y) { cudaGridDependencySynchronize(); y[threadIdx.x] = x[threadIdx.x] * 2; }
__global__ void choose(cudaGraphConditionalHandle h, unsigned v) { cudaGraphSetConditional(h, v); }
static int called = 0;
int main() {
  const int n = 256; std::vector<int> in(n), out(n); for (int i = 0; i < n; ++i) in[i] = i;
  int *d, *e; cudaMalloc(&d, n * 4); cudaMalloc(&e, n * 4);
  cudaGraph_t g; EXPECT(cudaGraphCreate(&g, 0) == cudaSuccess);
  cudaGraphNode_t up, fill, kernel, copy, down, call, empty;
  EXPECT(cudaGraphAddMemcpyNode1D(&up, g, nullptr, 0, d, in.data(), n * 4, cudaMemcpyHostToDevice) == cudaSuccess);
  cudaMemsetParams set = {}; set.dst = e; set.elementSize = 4; set.width = n; set.height = 1; set.value = 7;
  EXPECT(cudaGraphAddMemsetNode(&fill, g, nullptr, 0, &set) == cudaSuccess);
  int count = n, by = 5; void* arguments[] = {&d, &count, &by};
  cudaKernelNodeParams k = {}; k.func = (void*)add; k.gridDim = 2; k.blockDim = 128; k.kernelParams = arguments;
  EXPECT(cudaGraphAddKernelNode(&kernel, g, &up, 1, &k) == cudaSuccess);
  cudaGraphNode_t both[] = {kernel, fill};
  EXPECT(cudaGraphAddEmptyNode(&empty, g, both, 2) == cudaSuccess);
  EXPECT(cudaGraphAddMemcpyNode1D(&copy, g, &empty, 1, e, d, n * 2, cudaMemcpyDeviceToDevice) == cudaSuccess);
  EXPECT(cudaGraphAddMemcpyNode1D(&down, g, &copy, 1, out.data(), e, n * 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  cudaHostNodeParams h = {}; h.fn = [](void* p) { ++*static_cast<int*>(p); }; h.userData = &called;
  EXPECT(cudaGraphAddHostNode(&call, g, &down, 1, &h) == cudaSuccess);
  cudaGraphExec_t exec; EXPECT(cudaGraphInstantiate(&exec, g, 0) == cudaSuccess);
  cudaStream_t s; cudaStreamCreate(&s);
  EXPECT(cudaGraphLaunch(exec, s) == cudaSuccess && cudaStreamSynchronize(s) == cudaSuccess);
  int bad = 0; for (int i = 0; i < n; ++i) bad += out[i] != (i < n / 2 ? i + 5 : 7);
  EXPECT(bad == 0); EXPECT(called == 1);
  by = 9; EXPECT(cudaGraphExecKernelNodeSetParams(exec, kernel, &k) == cudaSuccess);
  EXPECT(cudaGraphLaunch(exec, s) == cudaSuccess && cudaStreamSynchronize(s) == cudaSuccess);
  bad = 0; for (int i = 0; i < n; ++i) bad += out[i] != (i < n / 2 ? i + 9 : 7);
  EXPECT(bad == 0);
  // switch and if nodes
  cudaGraph_t c; cudaGraphCreate(&c, 0); cudaGraphConditionalHandle handle; EXPECT(cudaGraphConditionalHandleCreate(&handle, c, 0, cudaGraphCondAssignDefault) == cudaSuccess);
  cudaGraphNode_t chooser, branch; unsigned which = 2; void* chooser_arguments[] = {&handle, &which};
  cudaKernelNodeParams ck = {}; ck.func = (void*)choose; ck.gridDim = 1; ck.blockDim = 1; ck.kernelParams = chooser_arguments;
  EXPECT(cudaGraphAddKernelNode(&chooser, c, nullptr, 0, &ck) == cudaSuccess);
  cudaGraphNodeParams p = {}; p.type = cudaGraphNodeTypeConditional; p.conditional.handle = handle; p.conditional.type = cudaGraphCondTypeSwitch; p.conditional.size = 3;
  EXPECT(cudaGraphAddNode(&branch, c, &chooser, nullptr, 1, &p) == cudaSuccess);
  for (int b = 0; b < 3; ++b) { int amount = 1000 * (b + 1); void* a[] = {&d, &count, &amount}; cudaKernelNodeParams bk = k; bk.kernelParams = a; cudaGraphNode_t node; EXPECT(cudaGraphAddKernelNode(&node, p.conditional.phGraph_out[b], nullptr, 0, &bk) == cudaSuccess); }
  cudaGraphExec_t cexec; EXPECT(cudaGraphInstantiate(&cexec, c, 0) == cudaSuccess);
  EXPECT(cudaGraphLaunch(cexec, s) == cudaSuccess && cudaStreamSynchronize(s) == cudaSuccess);
  EXPECT(host(d, n)[3] == 3 + 9 + 3000);
  // capture, clone, child, update
  cudaGraph_t captured; cudaGraphNode_t child; EXPECT(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaSuccess);
  add<<<2, 128, 0, s>>>(d, n, 1); cudaMemcpyAsync(e, d, n * 4, cudaMemcpyDefault, s); EXPECT(cudaStreamEndCapture(s, &captured) == cudaSuccess);
  cudaGraph_t parent; cudaGraphCreate(&parent, 0); EXPECT(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, captured) == cudaSuccess);
  cudaGraphExec_t pexec; EXPECT(cudaGraphInstantiate(&pexec, parent, 0) == cudaSuccess); EXPECT(cudaGraphLaunch(pexec, s) == cudaSuccess); cudaStreamSynchronize(s);
  EXPECT(host(e, n)[3] == 3 + 9 + 3001);
  size_t nodes = 0; EXPECT(cudaGraphGetNodes(captured, nullptr, &nodes) == cudaSuccess && nodes == 2);
  cudaGraphExecUpdateResultInfo info; EXPECT(cudaGraphExecUpdate(exec, g, &info) == cudaSuccess);
  // programmatic dependent launch
  cudaLaunchAttribute attribute; attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization; attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {}; config.gridDim = 1; config.blockDim = 256; config.stream = s; config.attrs = &attribute; config.numAttrs = 1;
  first<<<1, 256, 0, s>>>(d); EXPECT(cudaLaunchKernelEx(&config, second, (const int*)d, e) == cudaSuccess); cudaStreamSynchronize(s);
  EXPECT(host(e, n)[100] == 200);
  // pools
  cudaMemPool_t pool; EXPECT(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess); unsigned long long keep = ~0ull; EXPECT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep) == cudaSuccess);
  int* a; EXPECT(cudaMallocAsync(&a, 1 << 20, s) == cudaSuccess); cudaMemsetAsync(a, 1, 1 << 20, s); EXPECT(host(a, 1)[0] == 0x01010101); EXPECT(cudaFreeAsync(a, s) == cudaSuccess);
  cudaMemPoolProps props = {}; props.allocType = cudaMemAllocationTypePinned; props.location.type = cudaMemLocationTypeDevice; cudaMemPool_t own; EXPECT(cudaMemPoolCreate(&own, &props) == cudaSuccess);
  EXPECT(cudaMallocFromPoolAsync(&a, 4096, own, s) == cudaSuccess && cudaFreeAsync(a, s) == cudaSuccess && cudaMemPoolTrimTo(own, 0) == cudaSuccess && cudaMemPoolDestroy(own) == cudaSuccess);
  // events, attributes
  cudaEvent_t e0, e1; cudaEventCreate(&e0); cudaEventCreate(&e1); cudaEventRecord(e0, s); add<<<2, 128, 0, s>>>(d, n, 1); cudaEventRecord(e1, s); cudaEventSynchronize(e1); float ms = -1;
  EXPECT(cudaEventElapsedTime(&ms, e0, e1) == cudaSuccess && ms >= 0); EXPECT(cudaStreamWaitEvent(s, e1) == cudaSuccess);
  cudaFuncAttributes fa; EXPECT(cudaFuncGetAttributes(&fa, add) == cudaSuccess && fa.maxThreadsPerBlock == 1024 && fa.numRegs > 0 && fa.binaryVersion == 90);
  int blocks = 0, size = 0, grid = 0; EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 128, 0) == cudaSuccess && blocks == 16); EXPECT(cudaOccupancyMaxPotentialBlockSize(&grid, &size, add) == cudaSuccess && size == 1024);
  int low, high; EXPECT(cudaDeviceGetStreamPriorityRange(&low, &high) == cudaSuccess && high <= low); cudaStream_t urgent; EXPECT(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, high) == cudaSuccess);
  cudaDeviceProp prop; EXPECT(cudaGetDeviceProperties(&prop, 0) == cudaSuccess && prop.major == 9 && prop.multiProcessorCount > 100 && std::strlen(prop.name) > 0);
  void* entry = nullptr; cudaDriverEntryPointQueryResult found; EXPECT(cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", &entry, 12000, cudaEnableDefault, &found) == cudaSuccess && entry);
  EXPECT(cudaLaunchHostFunc(s, h.fn, h.userData) == cudaSuccess); cudaStreamSynchronize(s); EXPECT(called == 3);
  add<<<0, 128>>>(d, n, 1); EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration); add<<<1, 2048>>>(d, n, 1); EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
