// A program under the GPU back end's launch hook, on the fake device. Its first argument selects its actions;
// it prints "done" and exits with 0 if all of them succeeded.
#include "runtime/gpu/launch_hook.h"
#include "runtime/gpu/memory_hook.h"
#include "test/runtime/fake_gpu/fake_gpu.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
#include <warplens/probed_variant.h>
#include <warplens/ring.h>
#include <warplens/texture_table.h>

using namespace warplens;

extern "C" void __warplens_register_channel(const void* channel);

namespace {

ring::Channel module_channel; // a copy of gpu_probe.h's
const int registered = (__warplens_register_channel(&module_channel), 0);
std::atomic<bool> host_is_ready = false;

/// Runs a kernel in which each warp of each block stores `lines` times.
void store(dim3 grid, dim3 block, unsigned lines) {
  ring::Channel channel = fake_gpu::read(module_channel);
  for (std::uint64_t id = 0; id < grid.x && channel.blocks != 0; ++id) {
    ring::BlockBuffer* const buffer = ring::enter(&channel, id, block.x);
    if (!buffer)
      continue;
    ring::Line line{.site = 5, .active = ~0u, .bytes = 4, .space = 1, .kind = 1};
    for (unsigned count = 0; count < lines; ++count)
      for (unsigned warp = 0; warp < block.x / 32; ++warp)
        ring::push(buffer, warp, line);
    ring::leave(buffer, block.x);
  }
}

const fake_gpu::Kernel plain{"_Z5plainv", [](dim3 grid, dim3 block) { store(grid, block, 300); }};
/// A kernel whose addresses do not compress: its trace has many megabytes, which the snooper writes while the
/// kernel runs.
const fake_gpu::Kernel scattered{
    "_Z9scatteredv", [](dim3, dim3 block) {
      ring::Channel channel = fake_gpu::read(module_channel);
      ring::BlockBuffer* const buffer = channel.blocks ? ring::enter(&channel, 0, block.x) : nullptr;
      if (!buffer)
        return;
      ring::Line line{.site = 5, .active = ~0u, .bytes = 4, .space = 1, .kind = 1};
      std::uint64_t random = 1;
      for (unsigned count = 0; count < 200000; ++count) {
        for (std::uint64_t& address : line.addresses) {
          random = random * 6364136223846793005u + 1442695040888963407u;
          address = random >> 20;
        }
        ring::push(buffer, 0, line);
      }
      ring::leave(buffer, block.x);
    }};
const fake_gpu::Kernel waiting{"_Z7waitingv", [](dim3 grid, dim3 block) {
                                 store(grid, block, 3);
                                 while (!host_is_ready)
                                   std::this_thread::yield();
                                 store(grid, block,
                                       300); // more than a ring holds, with no snooper to drain it
                               }};

/// A kernel whose blocks of 32 threads read, like gpu_probe.h and texture_probe.h, a texel of each of three
/// textures, and write one of a surface.
unsigned long long handles[4];
const fake_gpu::Kernel fetching{
    "_Z8fetchingv", [](dim3, dim3 block) {
      ring::Channel channel = fake_gpu::read(module_channel);
      ring::BlockBuffer* const buffer = channel.blocks ? ring::enter(&channel, 0, block.x) : nullptr;
      if (!buffer)
        return;
      for (unsigned i = 0; i < 4; ++i) {
        const std::uint64_t key = texture_key(handles[i], i == 3);
        const TextureTable::Entry& entry = channel.textures->entries[texture_place(*channel.textures, key)];
        if (entry.key == 0) {
          *channel.unknown_texture = 1;
          continue;
        }
        ring::Line line{.site = 10 + i, .active = 1, .bytes = 4, .space = 1, .kind = i == 3};
        line.addresses[0] = i == 3   ? texels::surface_address(entry.view, 4, 1, 0, 0, false, 4)
                            : i == 0 ? texels::texel(entry.view, texels::Shape::element, {5, 0, 0, 0}, 0)
                                     : texels::texel(entry.view, texels::Shape::plane, {0, 1.5f, 1.5f, 0}, 0);
        ring::push(buffer, 0, line);
      }
      ring::leave(buffer, block.x);
    }};
const fake_gpu::Kernel trapping{"_Z8trappingv", [](dim3 grid, dim3 block) {
                                  store(grid, block, 3);
                                  fake_gpu::trapped = true;
                                }};
const fake_gpu::Kernel on_the_other{"_Z5otherv", [](dim3 grid, dim3 block) { store(grid, block, 1); }};

bool launch(const fake_gpu::Kernel& kernel, unsigned blocks = 20, unsigned threads = 64,
            cudaStream_t stream = nullptr) {
  return __warplens_cudaLaunchKernel(&kernel, blocks, threads, nullptr, 0, stream) == cudaSuccess;
}

// Two variants of one kernel: the user's own, which has no probes, and that with probes, which takes more
// registers.
std::atomic<int> plain_runs = 0;
const fake_gpu::Kernel both{"_Z4bothv", [](dim3, dim3) { ++plain_runs; }};
const fake_gpu::Kernel both_probed{"_Z4bothv" WARPLENS_PROBED_SUFFIX,
                                   [](dim3 grid, dim3 block) { store(grid, block, 3); }, 512};
const void* module_kernels[] = {&both, &both_probed, nullptr};
const char host_name = 0;

bool launch_both(unsigned blocks, unsigned threads, std::size_t shared = 0) {
  return __warplens_cudaLaunchKernel(&host_name, blocks, threads, nullptr, shared, nullptr) == cudaSuccess;
}

/// Makes the copies that the log must contain, in its order: each row of an array reports its own length.
bool copy_in_all_ways() {
  void *array = nullptr, *elsewhere = nullptr, *managed = nullptr;
  static char host[4096], variable[256];
  bool right = __warplens_cudaMalloc(&array, 1 << 20) == cudaSuccess &&
               __warplens_cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal) == cudaSuccess;
  fake_gpu::memory[variable] = {sizeof variable, cudaMemoryTypeDevice, 0};
  cudaSetDevice(1);
  right &= __warplens_cudaMalloc(&elsewhere, 4096) == cudaSuccess;
  cudaSetDevice(0);
  char* const start = static_cast<char*>(array);
  const auto ok = [&](cudaError_t result) { right &= result == cudaSuccess; };

  ok(__warplens_cudaMemcpy(array, host, 10, cudaMemcpyHostToDevice)); // dropped because of the next call
  ok(__warplens_cudaMemset(managed, 0, 4096));
  ok(__warplens_cudaMemcpy(array, host, 101, cudaMemcpyDefault));
  ok(__warplens_cudaMemcpyAsync_ptsz(host, start + 0x1000, 102, cudaMemcpyDeviceToHost, nullptr));
  ok(__warplens_cudaMemcpy2D(start + 0x2000, 512, host, 64, 50, 3, cudaMemcpyHostToDevice));
  cudaMemcpy3DParms box{};
  box.srcPtr = {start + 0x10000, 256, 256, 16};
  box.srcPos = {4, 2, 1};
  box.dstPtr = {host, 32, 32, 4};
  box.extent = {20, 4, 2};
  ok(__warplens_cudaMemcpy3DAsync(&box, nullptr));
  ok(__warplens_cudaMemcpyToSymbol_ptds(variable, host, 103, 16, cudaMemcpyHostToDevice));
  ok(__warplens_cudaMemcpyFromSymbolAsync(host, variable, 104, 8, cudaMemcpyDeviceToHost, nullptr));
  void* to[] = {start + 0x3000, start + 0x4000};
  const void* from[] = {host, host};
  const std::size_t bytes[] = {105, 106};
  ok(__warplens_cudaMemcpyBatchAsync(to, from, bytes, 2, nullptr, nullptr, 0, nullptr));
  ok(__warplens_cudaMemcpyPeer(start + 0x5000, 0, elsewhere, 1, 107)); // the other GPU's memory is not logged
  ok(__warplens_cudaMemset(elsewhere, 0, 108));
  ok(__warplens_cudaMemsetAsync(start + 0x6000, 1, 109, nullptr));
  ok(__warplens_cudaMemset2D(start + 0x7000, 1024, 0, 110, 2));
  ok(__warplens_cudaMemset3D({start + 0x20000, 128, 128, 8}, 0, {111, 2, 2}));

  fake_gpu::capturing = true;
  ok(__warplens_cudaMemsetAsync(start + 0x8000, 1, 112, nullptr));
  fake_gpu::capturing = false;
  fake_gpu::copies_fail = true;
  right &= __warplens_cudaMemset(start + 0x9000, 1, 113) != cudaSuccess;
  fake_gpu::copies_fail = false;
  const auto at = [&](const void* place) { // shows the address to the test
    return static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(place));
  };
  std::printf("%llx %llx\n", at(array), at(variable));
  return right && launch(plain);
}

/// Launches in a thread for each GPU; the first launch is traced.
bool use_two_devices() {
  fake_gpu::dynamic_shared_bytes = {{&plain, 0},
                                    {&on_the_other, 0}}; // several threads must not change the map
  bool right = launch(plain);
  std::atomic<bool> all = true;
  std::vector<std::thread> threads;
  for (const int device : {0, 1})
    threads.emplace_back([&all, device] {
      cudaSetDevice(device);
      for (unsigned count = 0; count < 100; ++count)
        if (!launch(device == 0 ? plain : on_the_other, 4, 32))
          all = false;
      fake_gpu::synchronize(nullptr);
    });
  for (std::thread& thread : threads)
    thread.join();
  cudaSetDevice(1);
  right &= launch(on_the_other, 4, 32);
  fake_gpu::synchronize(nullptr);
  cudaSetDevice(0);
  return right && all && fake_gpu::launches == 202;
}

bool run(const std::string& what) {
  cudaStream_t const other = reinterpret_cast<cudaStream_t>(0x10);
  bool right = true;
  if (what == "plain") {
    void* memory = nullptr;
    right &= __warplens_cudaMalloc(&memory, 4000) == cudaSuccess;
    right &= launch(plain) && launch(plain);
    const cudaLaunchConfig_t config{.gridDim = 20, .blockDim = 64, .dynamicSmemBytes = 0, .stream = other};
    right &= __warplens_cudaLaunchKernelExC(&config, &plain, nullptr) == cudaSuccess;
    right &= fake_gpu::launches == 3;
  } else if (what == "capturing") {
    fake_gpu::capturing = true;
    right &= launch(plain);
  } else if (what == "scattered") {
    right &= launch(scattered, 1, 64);
    void* memory = nullptr;
    right &= __warplens_cudaMalloc(&memory, 4000) == cudaSuccess; // the trace would record the allocation
    right &= launch(plain) && cudaFree(memory) == cudaSuccess;
  } else if (what == "many-streams") { // while a launch is traced, those of other threads do not wait
    std::vector<std::thread> threads;
    std::atomic<bool> all = true;
    fake_gpu::dynamic_shared_bytes[&plain] = 0; // its entry: the map is not for several threads to change
    for (std::uintptr_t i = 0; i < 16; ++i)
      threads.emplace_back([&all, i] {
        for (unsigned count = 0; count < 200; ++count)
          if (!launch(plain, 1, 32, reinterpret_cast<cudaStream_t>(0x100 + i)))
            all = false;
        fake_gpu::synchronize(reinterpret_cast<cudaStream_t>(0x100 + i));
      });
    for (std::thread& thread : threads)
      thread.join();
    right &= all && fake_gpu::launches == 16 * 200;
  } else if (what == "endless") { // ends when it is killed
    for (;;)
      right &= launch(scattered, 1, 64);
  } else if (what == "waits-for-host") {
    right &= launch(waiting);
    host_is_ready = true;
    right &= launch(plain); // the abandoned kernel may still write to the channel: untraced
  } else if (what == "waits-for-kernel") {
    // Another thread's launch must succeed while a traced kernel runs that waits for it.
    const fake_gpu::Kernel releasing{"_Z9releasingv", [](dim3, dim3) { host_is_ready = true; }};
    bool released = false;
    std::thread second([&] {
      while (fake_gpu::launches == 0)
        std::this_thread::yield();
      released = launch(releasing, 1, 32, other);
      fake_gpu::synchronize(other);
    });
    right &= launch(waiting);
    second.join();
    right &= released;
  } else if (what.starts_with("two-variants")) {
    __warplens___cudaRegisterFunction(const_cast<void**>(module_kernels), &host_name, nullptr, both.symbol,
                                      -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    if (what == "two-variants-too-large")
      right &= launch_both(20, 1024);
    else if (what == "two-variants-cooperative") // 10 SMs, on each of which 8 blocks fit
      right &= __warplens_cudaLaunchCooperativeKernel(&host_name, 81, 64, nullptr, 0, nullptr) == cudaSuccess;
    fake_gpu::dynamic_shared_bytes[&host_name] = 100000;
    right &= launch_both(20, 64, 100000) && launch_both(20, 64);
    fake_gpu::synchronize(nullptr);
    right &= plain_runs == (what == "two-variants" ? 1 : 2);
  } else if (what.starts_with("textures")) {
    const cudaChannelFormatDesc floats{32, 0, 0, 0, cudaChannelFormatKindFloat};
    cudaResourceDesc linear{}, pitched{}, array{};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear = {reinterpret_cast<void*>(0x10000), floats, 4000};
    pitched.resType = cudaResourceTypePitch2D;
    pitched.res.pitch2D = {reinterpret_cast<void*>(0x20000), floats, 64, 32, 512};
    array.resType = cudaResourceTypeArray;
    array.res.array.array = reinterpret_cast<cudaArray_t>(0x30000);
    cudaTextureDesc point{};
    point.addressMode[0] = point.addressMode[1] = cudaAddressModeClamp;
    const cudaResourceDesc* resources[] = {&linear, &pitched, &array};
    for (unsigned i = 0; i < 3; ++i)
      right &= __warplens_cudaCreateTextureObject(&handles[i], resources[i], &point, nullptr) == cudaSuccess;
    right &= __warplens_cudaCreateSurfaceObject(&handles[3], &array) == cudaSuccess;
    if (what == "textures-destroyed")
      right &= __warplens_cudaDestroyTextureObject(handles[1]) == cudaSuccess;
    right &= launch(fetching, 1, 32);
  } else if (what == "copies") {
    right &= copy_in_all_ways();
  } else if (what == "untraced") { // each untraced launch may have evicted what was copied before
    void* memory = nullptr;
    right &= __warplens_cudaMalloc(&memory, 4096) == cudaSuccess;
    for (unsigned count = 0; count < 4; ++count)
      right &= launch(plain) && __warplens_cudaMemset(memory, 0, 100 + count) == cudaSuccess;
    right &= launch(on_the_other);
  } else if (what == "graph") { // the accesses of a graph are not seen
    void* memory = nullptr;
    right &= __warplens_cudaMalloc(&memory, 4096) == cudaSuccess;
    right &= __warplens_cudaMemset(memory, 0, 4096) == cudaSuccess;
    right &= __warplens_cudaGraphLaunch(nullptr, nullptr) == cudaSuccess;
    right &= __warplens_cudaMemset(memory, 0, 100) == cudaSuccess;
    right &= launch(plain);
  } else if (what == "tiny") {
    for (unsigned count = 0; count < 10000; ++count)
      right &= launch(count % 2 ? plain : on_the_other, 1, 32);
    right &= fake_gpu::launches == 10000;
  } else if (what == "trap") {
    right &= launch(trapping); // the launch has ended when this returns: it was traced
    right &= cudaGetLastError() == cudaErrorLaunchFailure;
    right &= !launch(plain) && cudaPeekAtLastError() == cudaErrorLaunchFailure;
    std::puts(right ? "done" : "wrong");
    std::exit(right ? 0 : 1);
  } else if (what == "two-devices") {
    right &= use_two_devices();
  } else if (what == "bad-launch") {
    right &= !launch(plain, 1, 2000);
    right &= cudaPeekAtLastError() == cudaErrorInvalidConfiguration;
  }
  fake_gpu::synchronize(nullptr);
  fake_gpu::synchronize(other);
  return right && fake_gpu::read(module_channel).blocks == 0;
}

} // namespace

int main(int, char** arguments) {
  const bool right = run(arguments[1]);
  std::puts(right ? "done" : "wrong");
  std::exit(right ? 0 : 1);
}
