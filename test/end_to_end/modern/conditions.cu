// Conditional nodes of graphs: while, if and else, switch; the condition is a kernel's.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void count(int* x, cudaGraphConditionalHandle handle, int limit) {
  if (++*x >= limit)
    cudaGraphSetConditional(handle, 0);
}
__global__ void choose(cudaGraphConditionalHandle handle, unsigned value) { cudaGraphSetConditional(handle, value); }
__global__ void store(int* x, int value) { *x = value; }

static cudaGraphNode_t add_conditional(cudaGraph_t graph, cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, unsigned size,
                                       cudaGraph_t* bodies, cudaGraphNode_t* after) {
  cudaGraphNodeParams parameters = {};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = type;
  parameters.conditional.size = size;
  cudaGraphNode_t node = nullptr;
  if (cudaGraphAddNode(&node, graph, after, nullptr, after ? 1 : 0, &parameters) != cudaSuccess)
    std::puts("no conditional node");
  for (unsigned i = 0; i < size; ++i)
    bodies[i] = parameters.conditional.phGraph_out[i];
  return node;
}

template <class... Parameters, class... Arguments>
static cudaGraphNode_t add_kernel(cudaGraph_t graph, void (*kernel)(Parameters...), Arguments... values) {
  void* arguments[] = {&values...};
  cudaKernelNodeParams call = {};
  call.func = reinterpret_cast<void*>(kernel);
  call.gridDim = call.blockDim = dim3(1);
  call.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &call);
  return node;
}

int main() {
  int *x, value[2] = {};
  cudaMalloc(&x, 8);
  cudaMemset(x, 0, 8);
  cudaGraph_t graph, body, sides[3];
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle loop, side;
  cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault);
  cudaGraphConditionalHandleCreate(&side, graph);
  add_conditional(graph, loop, cudaGraphCondTypeWhile, 1, &body, nullptr);
  add_kernel(body, count, x, loop, 10);
  cudaGraphNode_t chooser = add_kernel(graph, choose, side, 2u);
  add_conditional(graph, side, cudaGraphCondTypeSwitch, 3, sides, &chooser);
  for (int i = 0; i < 3; ++i)
    add_kernel(sides[i], store, x + 1, 100 + i);
  cudaGraphExec_t executable;
  if (cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess)
    std::puts("no executable graph");
  for (int i = 0; i < 2; ++i) {
    cudaGraphLaunch(executable, 0);
    cudaMemcpy(value, x, 8, cudaMemcpyDefault);
    std::printf("%d %d\n", value[0], value[1]); // the second launch counts once: the condition holds again, and ends it
  }
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
