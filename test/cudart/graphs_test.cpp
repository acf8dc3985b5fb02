// Graphs: built by hand, captured from streams, changed and run again.
#include "runtime/abi/abi.h"
#include "test/catch.h"

#include <array>
#include <cuda_runtime_api.h>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace warplens::cpu;

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
}

namespace {

/// Computes *target = *target * factor + summand, which shows the order in which kernels run.
void scale(void** arguments, BlockContext*) {
  auto* const target = *static_cast<double**>(arguments[1]);
  *target = *target * *static_cast<char*>(arguments[0]) + *static_cast<int*>(arguments[2]);
}

char scale_stub;
const ParameterRecord parameters[] = {{0, 1}, {8, 8}, {16, 4}};
const KernelRecord scale_record{
    .symbol = "_Z5scalecPdi", .untraced_block = scale, .parameter_count = 3, .parameters = parameters};

void register_once() {
  static const bool done = [] {
    static struct {
      int magic, version;
      const char* module;
      void* unused;
    } binary{0, 1, "graphs", nullptr};
    __cudaRegisterFunction(__cudaRegisterFatBinary(&binary), &scale_stub, nullptr, scale_record.symbol, -1,
                           nullptr, nullptr, nullptr, nullptr, nullptr);
    __warplens_cpu_register_kernel(&scale_record);
    return true;
  }();
  (void)done;
}

/// Adds a node with arguments on this function's stack: the graph must have copied them.
[[gnu::noinline]] cudaError_t add_scale(cudaGraphNode_t* node, cudaGraph_t graph,
                                        std::vector<cudaGraphNode_t> after, char factor, double* target,
                                        int summand) {
  void* arguments[] = {&factor, &target, &summand};
  const cudaKernelNodeParams call{&scale_stub, {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
  return cudaGraphAddKernelNode(node, graph, after.data(), after.size(), &call);
}

[[gnu::noinline]] cudaError_t launch_scale(cudaStream_t stream, char factor, double* target, int summand) {
  void* arguments[] = {&factor, &target, &summand};
  return cudaLaunchKernel(&scale_stub, {1, 1, 1}, {1, 1, 1}, arguments, 0, stream);
}

struct Stream {
  Stream(unsigned flags = cudaStreamNonBlocking) {
    REQUIRE(cudaStreamCreateWithFlags(&handle, flags) == cudaSuccess);
  }
  ~Stream() { cudaStreamDestroy(handle); }
  Stream(const Stream&) = delete;
  cudaStream_t handle = nullptr;
};

cudaStreamCaptureStatus status_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
  return status;
}

} // namespace

TEST_CASE("a graph runs its nodes in the order of its edges, as often as it is launched") {
  register_once();
  double *value = nullptr, on_host = 0;
  REQUIRE(cudaMalloc(reinterpret_cast<void**>(&value), sizeof *value) == cudaSuccess);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
  std::array<cudaGraphNode_t, 5> node{};
  // Added in another order than they run: 1 (fill) → 0 (3x + 5) → 2 (2x + 1) → 3 (copy) → 4 (host).
  CHECK(add_scale(&node[0], graph, {}, 3, value, 5) == cudaSuccess);
  const cudaMemsetParams zero{value, 0, 0, 4, 2, 1};
  CHECK(cudaGraphAddMemsetNode(&node[1], graph, nullptr, 0, &zero) == cudaSuccess);
  CHECK(cudaGraphAddDependencies(graph, &node[1], &node[0], nullptr, 1) == cudaSuccess);
  CHECK(add_scale(&node[2], graph, {node[0]}, 2, value, 1) == cudaSuccess);
  CHECK(cudaGraphAddMemcpyNode1D(&node[3], graph, &node[2], 1, &on_host, value, sizeof on_host,
                                 cudaMemcpyDeviceToHost) == cudaSuccess);
  const cudaHostNodeParams add_hundred{[](void* data) { *static_cast<double*>(data) += 100; }, &on_host};
  CHECK(cudaGraphAddHostNode(&node[4], graph, &node[3], 1, &add_hundred) == cudaSuccess);

  cudaGraphExec_t ready = nullptr;
  REQUIRE(cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess);
  CHECK(on_host == 0); // nothing has run yet
  for (int i = 0; i < 3; ++i) {
    on_host = 0;
    CHECK(cudaGraphLaunch(ready, nullptr) == cudaSuccess);
    CHECK(on_host == 100 + 2 * 5 + 1);
  }

  // An executable graph and its graph do not affect each other.
  char factor = 1;
  int summand = 7;
  void* arguments[] = {&factor, &value, &summand};
  cudaKernelNodeParams call{&scale_stub, {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
  CHECK(cudaGraphKernelNodeSetParams(node[2], &call) == cudaSuccess);
  CHECK(cudaGraphLaunch(ready, nullptr) == cudaSuccess);
  CHECK(on_host == 111);
  summand = 9;
  CHECK(cudaGraphExecKernelNodeSetParams(ready, node[2], &call) == cudaSuccess);
  CHECK(cudaGraphLaunch(ready, nullptr) == cudaSuccess);
  CHECK(on_host == 100 + 5 + 9);
  cudaGraphExecUpdateResultInfo result{};
  CHECK(cudaGraphExecUpdate(ready, graph, &result) == cudaSuccess);
  CHECK(cudaGraphLaunch(ready, nullptr) == cudaSuccess);
  CHECK(on_host == 100 + 5 + 7);
  CHECK(cudaGraphNodeSetEnabled(ready, node[2], 0) == cudaSuccess);
  CHECK(cudaGraphLaunch(ready, nullptr) == cudaSuccess);
  CHECK(on_host == 105);

  CHECK(cudaGraphDestroyNode(node[4]) == cudaSuccess);
  CHECK(cudaGraphExecUpdate(ready, graph, &result) == cudaErrorGraphExecUpdateFailure);
  CHECK(result.result == cudaGraphExecUpdateErrorTopologyChanged);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaGraphLaunch(ready, nullptr) == cudaSuccess); // outlives its graph
  CHECK(cudaGraphExecDestroy(ready) == cudaSuccess);
  CHECK(cudaGraphLaunch(ready, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaFree(value) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("a graph returns its nodes and edges") {
  register_once();
  double value = 0;
  cudaGraph_t graph = nullptr, copy = nullptr;
  REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
  cudaGraphNode_t first = nullptr, second = nullptr, third = nullptr, found = nullptr;
  CHECK(add_scale(&first, graph, {}, 3, &value, 5) == cudaSuccess);
  CHECK(cudaGraphAddEmptyNode(&second, graph, &first, 1) == cudaSuccess);
  CHECK(add_scale(&third, graph, {first, second}, 2, &value, 1) == cudaSuccess);
  std::size_t count = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
  CHECK(count == 3);
  std::array<cudaGraphNode_t, 4> nodes{}, ends{};
  count = 4;
  CHECK(cudaGraphGetRootNodes(graph, nodes.data(), &count) == cudaSuccess);
  CHECK(count == 1);
  CHECK(nodes == std::array<cudaGraphNode_t, 4>{first, nullptr, nullptr, nullptr});
  count = 4;
  CHECK(cudaGraphGetEdges(graph, nodes.data(), ends.data(), nullptr, &count) == cudaSuccess);
  CHECK(count == 3);
  CHECK(nodes == std::array<cudaGraphNode_t, 4>{first, first, second, nullptr});
  CHECK(ends == std::array<cudaGraphNode_t, 4>{second, third, third, nullptr});
  count = 4;
  CHECK(cudaGraphNodeGetDependentNodes(first, nodes.data(), nullptr, &count) == cudaSuccess);
  CHECK(count == 2);
  cudaGraphNodeType type{};
  CHECK(cudaGraphNodeGetType(second, &type) == cudaSuccess);
  CHECK(type == cudaGraphNodeTypeEmpty);
  cudaKernelNodeParams call{};
  CHECK(cudaGraphKernelNodeGetParams(third, &call) == cudaSuccess);
  CHECK(call.func == &scale_stub);
  CHECK(*static_cast<int*>(call.kernelParams[2]) == 1);
  CHECK(cudaGraphKernelNodeGetParams(second, &call) == cudaErrorInvalidValue);

  CHECK(cudaGraphClone(&copy, graph) == cudaSuccess);
  CHECK(cudaGraphNodeFindInClone(&found, third, copy) == cudaSuccess);
  CHECK(found != third);
  CHECK(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1) == cudaSuccess);
  CHECK(cudaGraphAddDependencies(graph, &third, &first, nullptr, 1) == cudaSuccess); // a cycle
  cudaGraphExec_t ready = nullptr;
  cudaGraphInstantiateParams how{};
  CHECK(cudaGraphInstantiateWithParams(&ready, graph, &how) == cudaErrorInvalidValue);
  CHECK(how.result_out == cudaGraphInstantiateInvalidStructure);
  CHECK(cudaGraphInstantiate(&ready, copy, 0) == cudaSuccess);
  CHECK(cudaGraphLaunch(ready, nullptr) == cudaSuccess);
  CHECK(value == 11);
  CHECK(cudaGraphExecDestroy(ready) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(copy) == cudaSuccess);
  CHECK(cudaGraphNodeGetType(third, &type) == cudaErrorInvalidValue);
  CHECK(cudaGraphDestroy(graph) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("a child graph runs in place of its node") {
  register_once();
  double value = 1;
  cudaGraph_t inner = nullptr, outer = nullptr;
  REQUIRE(cudaGraphCreate(&inner, 0) == cudaSuccess);
  REQUIRE(cudaGraphCreate(&outer, 0) == cudaSuccess);
  cudaGraphNode_t in = nullptr, before = nullptr, child = nullptr, after = nullptr;
  CHECK(add_scale(&in, inner, {}, 10, &value, 0) == cudaSuccess);
  CHECK(add_scale(&before, outer, {}, 1, &value, 2) == cudaSuccess);
  CHECK(cudaGraphAddChildGraphNode(&child, outer, &before, 1, inner) == cudaSuccess);
  CHECK(add_scale(&after, outer, {child}, 1, &value, 4) == cudaSuccess);
  CHECK(cudaGraphDestroy(inner) == cudaSuccess); // the node has its own clone
  cudaGraphExec_t ready = nullptr;
  REQUIRE(cudaGraphInstantiate(&ready, outer, 0) == cudaSuccess);
  CHECK(cudaGraphLaunch(ready, nullptr) == cudaSuccess);
  CHECK(value == 34);
  CHECK(cudaGraphChildGraphNodeGetGraph(child, &inner) == cudaSuccess);
  std::size_t count = 0;
  CHECK(cudaGraphGetNodes(inner, nullptr, &count) == cudaSuccess);
  CHECK(count == 1);
  CHECK(cudaGraphExecDestroy(ready) == cudaSuccess);
  CHECK(cudaGraphDestroy(outer) == cudaSuccess);
}

TEST_CASE("operations of a capturing stream run when its graph is launched") {
  register_once();
  const Stream stream, other;
  double *value = nullptr, on_host = 6, read_back = 0;
  REQUIRE(cudaMalloc(reinterpret_cast<void**>(&value), sizeof *value) == cudaSuccess);
  cudaEvent_t fork = nullptr, join = nullptr;
  REQUIRE(cudaEventCreate(&fork) == cudaSuccess);
  REQUIRE(cudaEventCreate(&join) == cudaSuccess);
  REQUIRE(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(status_of(stream.handle) == cudaStreamCaptureStatusActive);
  CHECK(status_of(other.handle) == cudaStreamCaptureStatusNone);
  CHECK(cudaMemcpyAsync(value, &on_host, sizeof on_host, cudaMemcpyHostToDevice, stream.handle) ==
        cudaSuccess);
  CHECK(cudaEventRecord(fork, stream.handle) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(other.handle, fork, 0) == cudaSuccess);
  CHECK(status_of(other.handle) == cudaStreamCaptureStatusActive);
  CHECK(launch_scale(other.handle, 2, value, 1) == cudaSuccess);
  CHECK(cudaEventRecord(join, other.handle) == cudaSuccess);
  CHECK(cudaEventQuery(join) == cudaErrorCapturedEvent);
  CHECK(cudaStreamWaitEvent(stream.handle, join, 0) == cudaSuccess);
  CHECK(launch_scale(stream.handle, 10, value, 0) == cudaSuccess);
  CHECK(cudaMemcpyAsync(&read_back, value, sizeof read_back, cudaMemcpyDeviceToHost, stream.handle) ==
        cudaSuccess);
  CHECK(cudaLaunchHostFunc(
            stream.handle, [](void* data) { *static_cast<double*>(data) += 0.5; }, &read_back) ==
        cudaSuccess);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream.handle, &graph) == cudaSuccess);
  CHECK(read_back == 0);
  CHECK(status_of(other.handle) == cudaStreamCaptureStatusNone);
  std::size_t nodes = 0, edges = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
  CHECK(nodes == 5);
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges) == cudaSuccess);
  CHECK(edges == 5); // a chain of 5, and from the copy past the forked kernel

  cudaGraphExec_t ready = nullptr;
  REQUIRE(cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess);
  for (const double start : {6.0, 7.0}) {
    on_host = start;
    CHECK(cudaGraphLaunch(ready, stream.handle) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream.handle) == cudaSuccess);
    CHECK(read_back == (2 * start + 1) * 10 + 0.5);
  }
  const auto file = std::string("test_graphs.dot");
  CHECK(cudaGraphDebugDotPrint(graph, file.c_str(), 0) == cudaSuccess);
  std::ostringstream dot;
  dot << std::ifstream(file).rdbuf();
  std::remove(file.c_str());
  CHECK(dot.str().find("node_1 [label=\"scale(char, double*, int)\"]") != std::string::npos);
  CHECK(dot.str().find("node_0 -> node_1;") != std::string::npos);
  CHECK(cudaGraphExecDestroy(ready) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaEventDestroy(fork) == cudaSuccess);
  CHECK(cudaEventDestroy(join) == cudaSuccess);
  CHECK(cudaFree(value) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("a stream that was joined may be destroyed during the capture") {
  register_once();
  double value = 1;
  const Stream stream;
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  for (const bool joined : {true, false}) {
    REQUIRE(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) == cudaSuccess);
    REQUIRE(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaEventRecord(event, stream.handle) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(other, event, 0) == cudaSuccess);
    CHECK(launch_scale(other, 1, &value, 1) == cudaSuccess);
    CHECK(cudaEventRecord(event, other) == cudaSuccess);
    if (joined)
      CHECK(cudaStreamWaitEvent(stream.handle, event, 0) == cudaSuccess);
    CHECK(cudaStreamDestroy(other) == cudaSuccess);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream.handle, &graph) ==
          (joined ? cudaSuccess : cudaErrorStreamCaptureInvalidated));
    if (graph)
      CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  }
  CHECK(cudaEventDestroy(event) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("operations that cannot be captured invalidate the capture") {
  register_once();
  const Stream stream, other, blocking(cudaStreamDefault);
  cudaGraph_t graph = nullptr;
  double value = 0;
  const auto invalidated_by = [&](cudaStream_t captured, auto call, cudaError_t error) {
    REQUIRE(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(call() == error);
    CHECK(status_of(captured) == cudaStreamCaptureStatusInvalidated);
    CHECK(launch_scale(captured, 1, &value, 1) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamEndCapture(captured, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(graph == nullptr);
    CHECK(status_of(captured) == cudaStreamCaptureStatusNone);
  };
  invalidated_by(
      stream.handle, [&] { return cudaStreamSynchronize(stream.handle); }, cudaErrorStreamCaptureUnsupported);
  invalidated_by(stream.handle, [] { return cudaDeviceSynchronize(); }, cudaErrorStreamCaptureUnsupported);
  void* pointer = nullptr;
  invalidated_by(stream.handle, [&] { return cudaMalloc(&pointer, 4); }, cudaErrorStreamCaptureUnsupported);
  invalidated_by(
      blocking.handle, [&] { return launch_scale(nullptr, 1, &value, 1); }, cudaErrorStreamCaptureImplicit);
  CHECK(value == 0);

  REQUIRE(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  CHECK(cudaMalloc(&pointer, 4) == cudaSuccess); // relaxed: the program knows
  CHECK(cudaFree(pointer) == cudaSuccess);
  CHECK(launch_scale(nullptr, 1, &value, 1) == cudaSuccess); // the stream does not wait for the legacy one
  CHECK(value == 1);
  CHECK(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeRelaxed) == cudaErrorIllegalState);
  CHECK(cudaStreamEndCapture(other.handle, &graph) == cudaErrorIllegalState);
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  CHECK(launch_scale(stream.handle, 1, &value, 1) == cudaSuccess);
  CHECK(cudaEventRecord(event, stream.handle) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(other.handle, event, 0) == cudaSuccess);
  CHECK(launch_scale(other.handle, 1, &value, 1) == cudaSuccess);
  CHECK(cudaStreamEndCapture(other.handle, &graph) == cudaErrorStreamCaptureUnmatched);
  CHECK(cudaStreamEndCapture(stream.handle, &graph) == cudaErrorStreamCaptureUnjoined);
  CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  cudaGetLastError();
}

TEST_CASE("memory of a graph is live from its node to its release") {
  const Stream stream;
  int on_host = 0;
  void* pointer = nullptr;
  REQUIRE(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeGlobal) == cudaSuccess);
  REQUIRE(cudaMallocAsync(&pointer, 4096, stream.handle) == cudaSuccess);
  CHECK(cudaMemsetAsync(pointer, 3, 4096, stream.handle) == cudaSuccess);
  CHECK(cudaMemcpyAsync(&on_host, pointer, 4, cudaMemcpyDeviceToHost, stream.handle) == cudaSuccess);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream.handle, &graph) == cudaSuccess);
  cudaGraphExec_t ready = nullptr, freeing = nullptr;
  REQUIRE(cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&freeing, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch) == cudaSuccess);
  std::uint64_t used = 1;
  const auto used_now = [&] {
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used) == cudaSuccess);
    return used;
  };
  CHECK(used_now() == 0);
  CHECK(cudaGraphLaunch(ready, stream.handle) == cudaSuccess);
  CHECK(on_host == 0x03030303);
  CHECK(used_now() == 4096);
  CHECK(cudaGraphLaunch(ready, stream.handle) ==
        cudaErrorInvalidValue); // the memory has not been freed since
  CHECK(cudaFreeAsync(pointer, stream.handle) == cudaSuccess);
  CHECK(cudaFree(pointer) == cudaErrorInvalidValue);
  CHECK(used_now() == 0);
  CHECK(cudaGraphLaunch(ready, stream.handle) == cudaSuccess);
  CHECK(cudaGraphLaunch(freeing, stream.handle) == cudaSuccess);
  for (const cudaGraphExec_t each : {ready, freeing})
    CHECK(cudaGraphExecDestroy(each) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaFree(pointer) == cudaSuccess); // it was live, and so outlasts the graph
  CHECK(cudaFree(pointer) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("a user object is destroyed with the last graph that refers to it") {
  int destroyed = 0;
  cudaUserObject_t object = nullptr;
  REQUIRE(cudaUserObjectCreate(
              &object, &destroyed, [](void* count) { ++*static_cast<int*>(count); }, 1,
              cudaUserObjectNoDestructorSync) == cudaSuccess);
  cudaGraph_t graph = nullptr, copy = nullptr;
  REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
  CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove) == cudaSuccess);
  CHECK(cudaGraphClone(&copy, graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(destroyed == 0);
  CHECK(cudaGraphDestroy(copy) == cudaSuccess);
  CHECK(destroyed == 1);
}

TEST_CASE("a node of any kind is added by its type") {
  register_once();
  double value = 1;
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
  char factor = 4;
  int summand = 2;
  double* target = &value;
  void* arguments[] = {&factor, &target, &summand};
  cudaGraphNodeParams node_params{};
  node_params.type = cudaGraphNodeTypeKernel;
  node_params.kernel.func = &scale_stub;
  node_params.kernel.gridDim = node_params.kernel.blockDim = {1, 1, 1};
  node_params.kernel.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &node_params) == cudaSuccess);
  node_params.type = cudaGraphNodeTypeConditional; // without a condition's handle
  cudaGraphNode_t refused = nullptr;
  CHECK(cudaGraphAddNode(&refused, graph, nullptr, nullptr, 0, &node_params) == cudaErrorInvalidValue);
  node_params.type = cudaGraphNodeTypeKernel;
  node_params.kernel.blockDim = {1025, 1, 1};
  CHECK(cudaGraphAddNode(&refused, graph, nullptr, nullptr, 0, &node_params) ==
        cudaErrorInvalidConfiguration);
  cudaGraphExec_t ready = nullptr;
  REQUIRE(cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess);
  CHECK(cudaGraphLaunch(ready, nullptr) == cudaSuccess);
  CHECK(value == 6);
  CHECK(cudaGraphExecDestroy(ready) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("a kernel node returns its parameters") {
  register_once();
  std::size_t offset = 0, bytes = 0;
  CHECK(cudaFuncGetParamInfo(&scale_stub, 2, &offset, &bytes) == cudaSuccess);
  CHECK(offset == 16);
  CHECK(bytes == 4);
  CHECK(cudaFuncGetParamInfo(&scale_stub, 3, &offset, &bytes) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("a launch attribute that is refused leaves the node as it was") {
  register_once();
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
  double value = 1;
  double* target = &value;
  char factor = 2;
  int summand = 1;
  void* arguments[] = {&factor, &target, &summand};
  const cudaKernelNodeParams call{&scale_stub, {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
  cudaGraphNode_t node = nullptr;
  REQUIRE(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &call) == cudaSuccess);
  cudaLaunchAttributeValue set{}, got{};
  set.clusterDim = {2, 1, 1};
  CHECK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &set) ==
        cudaErrorNotSupported);
  got.clusterDim = {9, 9, 9};
  CHECK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &got) == cudaSuccess);
  CHECK(got.clusterDim.x == 0);
  set.clusterDim = {1, 1, 1};
  CHECK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &set) == cudaSuccess);
  CHECK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &got) == cudaSuccess);
  CHECK(got.clusterDim.x == 1);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  cudaGetLastError();
}
