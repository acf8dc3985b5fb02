// Kernels of Huang and Li's kind with one array in each of the places where it can be: the work, the order of
// the accesses and the sums are the same, so the results of all places are equal, bit by bit.
//
// Usage: placements convolution|product|sparse|forces|histogram|layer|sum|stencil
// Each launch of the kernel has the array in another place; a line per launch has the sum of its results.
#include "../../accuracy/kernels/program.h"

#include <cstdint>
#include <string>

/// Where the array is: plain loads, loads by the read-only path, a linear texture, constant or shared memory.
enum class Place { plain, readonly, texture, constant, shared };

constexpr int CONSTANTS = 16384; // floats: all 64 KiB
__constant__ float constants[CONSTANTS];

/// An array of T in global memory and what else is made of it.
template <class T> struct Placed {
  const T* data;
  cudaTextureObject_t texture;
};

template <Place place> __device__ float at(const Placed<float>& array, int i) {
  if constexpr (place == Place::readonly)
    return __ldg(array.data + i);
  else if constexpr (place == Place::texture)
    return tex1Dfetch<float>(array.texture, i);
  else if constexpr (place == Place::constant)
    return constants[i];
  else
    return array.data[i];
}

template <Place place> __device__ float4 at(const Placed<float4>& array, int i) {
  if constexpr (place == Place::readonly)
    return __ldg(array.data + i);
  else if constexpr (place == Place::texture)
    return tex1Dfetch<float4>(array.texture, i);
  else
    return array.data[i];
}

/// Copies a part of the array into shared memory, all threads of the block together.
template <int SIZE> __device__ void stage(float* staged, const Placed<float>& array, int first) {
  const int threads = blockDim.x * blockDim.y;
  for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < SIZE; i += threads)
    staged[i] = array.data[first + i];
  __syncthreads();
}

constexpr int EDGE = 8, TAPS = 2 * EDGE + 1, IMAGE = 2048;

/// Rows are convolved with a filter, which is the array.
template <Place place> __global__ void convolve(Placed<float> filter, const float* image, float* out) {
  __shared__ float staged[TAPS];
  if constexpr (place == Place::shared)
    stage<TAPS>(staged, filter, 0);
  const int x = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * (IMAGE + 2 * EDGE);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < TAPS; ++k)
    sum += image[row + x + k] * (place == Place::shared ? staged[k] : at<place>(filter, k));
  out[blockIdx.y * IMAGE + x] = sum;
}

constexpr int EDGE_OF_PRODUCT = 512, TILE = 16;

/// A product of square matrices without tiles; the left one is the array, and a block's rows of it fit into
/// shared memory.
template <Place place> __global__ void multiply(Placed<float> a, const float* b, float* c) {
  constexpr int N = EDGE_OF_PRODUCT;
  __shared__ float staged[place == Place::shared ? TILE * N : 1];
  const int first = blockIdx.y * TILE, column = blockIdx.x * TILE + threadIdx.x;
  if constexpr (place == Place::shared)
    stage<TILE * N>(staged, a, first * N);
  float sum = 0;
  for (int k = 0; k < N; ++k)
    sum +=
        (place == Place::shared ? staged[threadIdx.y * N + k] : at<place>(a, (first + threadIdx.y) * N + k)) *
        b[k * N + column];
  c[(first + threadIdx.y) * N + column] = sum;
}

constexpr int ROWS = 65536, ROW_ENTRIES = 64;

/// A sparse matrix times a vector, a warp per row; the vector is the array.
template <Place place>
__global__ void multiply_sparse(Placed<float> vector, const float* entries, const int* columns, float* out) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int i = row * ROW_ENTRIES + lane; i < (row + 1) * ROW_ENTRIES; i += 32)
    sum += entries[i] * at<place>(vector, columns[i]);
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(~0u, sum, distance);
  if (lane == 0)
    out[row] = sum;
}

constexpr int ATOMS = 49152, NEIGHBOURS = 128;

/// Forces between an atom and its neighbours; the positions are the array.
template <Place place> __global__ void push(Placed<float4> positions, const int* neighbours, float4* forces) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 own = at<place>(positions, i);
  float3 force{};
  for (int j = 0; j < NEIGHBOURS; ++j) {
    const float4 other = at<place>(positions, neighbours[j * ATOMS + i]);
    const float x = own.x - other.x, y = own.y - other.y, z = own.z - other.z;
    const float near = 1 / (x * x + y * y + z * z + 0.25f), cubed = near * near * near;
    const float strength = near * cubed * (cubed - 0.5f);
    force.x += x * strength;
    force.y += y * strength;
    force.z += z * strength;
  }
  forces[i] = {force.x, force.y, force.z, 0};
}

constexpr int BINS = 256, KEYS = 1 << 24, KEYS_EACH = 16;

/// Counts keys; the bins are the array: the whole grid's, or each block's and added up at its end.
template <Place place> __global__ void count(const std::uint8_t* keys, int* bins) {
  __shared__ int staged[BINS];
  if constexpr (place == Place::shared) {
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
      staged[i] = 0;
    __syncthreads();
  }
  const int first = blockIdx.x * blockDim.x * KEYS_EACH + threadIdx.x;
  for (int i = 0; i < KEYS_EACH; ++i)
    atomicAdd((place == Place::shared ? staged : bins) + keys[first + i * blockDim.x], 1);
  if constexpr (place == Place::shared) {
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
      atomicAdd(bins + i, staged[i]);
  }
}

constexpr int DIGIT = 29, MAP = 13, MAPS = 6, WEIGHTS = 26, DIGITS = 4096;

/// The first layer of a net that reads digits: a block per digit and map; the weights are the array, and all
/// threads of a block read the same ones.
template <Place place> __global__ void feed_forward(Placed<float> weights, const float* digits, float* out) {
  __shared__ float staged[WEIGHTS];
  const int map = blockIdx.x, digit = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
  if constexpr (place == Place::shared)
    stage<WEIGHTS>(staged, weights, map * WEIGHTS);
  const auto weight = [&](int i) {
    return place == Place::shared ? staged[i] : at<place>(weights, map * WEIGHTS + i);
  };
  float sum = weight(0);
  for (int i = 0; i < 25; ++i)
    sum += digits[digit * DIGIT * DIGIT + (2 * y + i / 5) * DIGIT + 2 * x + i % 5] * weight(i + 1);
  out[(digit * MAPS + map) * MAP * MAP + y * MAP + x] = 1.7159f * tanhf(0.66666667f * sum);
}

constexpr int ADDENDS = 1 << 24, SUM_THREADS = 256;

/// Sums per block; the partial sums are the array.
template <Place place> __global__ void sum_blocks(const float* in, float* scratch, float* out) {
  __shared__ float staged[SUM_THREADS];
  float* const partial = place == Place::shared ? staged : scratch + blockIdx.x * SUM_THREADS;
  const int i = blockIdx.x * SUM_THREADS * 2 + threadIdx.x;
  partial[threadIdx.x] = in[i] + in[i + SUM_THREADS];
  __syncthreads();
  for (int distance = SUM_THREADS / 2; distance > 0; distance /= 2) {
    if (threadIdx.x < distance)
      partial[threadIdx.x] += partial[threadIdx.x + distance];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = partial[0];
}

/// A step of nine points; the grid is the array.
template <Place place> __global__ void step(Placed<float> grid, float* out) {
  constexpr int WIDTH = IMAGE + 2;
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  const int i = y * WIDTH + x;
  const auto cell = [&](int offset) { return at<place>(grid, i + offset); };
  out[i] = 0.5f * cell(0) + 0.1f * (cell(-1) + cell(1) + cell(-WIDTH) + cell(WIDTH)) +
           0.025f * (cell(-WIDTH - 1) + cell(-WIDTH + 1) + cell(WIDTH - 1) + cell(WIDTH + 1));
}

/// Makes numbers that do not repeat soon.
struct Numbers {
  std::uint32_t state = 12345;
  std::uint32_t below(std::uint32_t end) {
    state = state * 1664525u + 1013904223u;
    return std::uint32_t((std::uint64_t(state) * end) >> 32);
  }
  std::vector<float> fractions(std::size_t count) {
    std::vector<float> made(count);
    for (float& number : made)
      number = float(below(1 << 16)) / (1 << 16);
    return made;
  }
  template <class T> std::vector<T> all_below(std::size_t count, std::uint32_t end) {
    std::vector<T> made(count);
    for (T& number : made)
      number = T(below(end));
    return made;
  }
};

template <class T> Placed<T> placed(const T* data, std::size_t count) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<T*>(data);
  resource.res.linear.desc = cudaCreateChannelDesc<T>();
  resource.res.linear.sizeInBytes = count * sizeof(T);
  cudaTextureDesc reading = {};
  reading.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &reading, nullptr);
  return {data, texture};
}

/// Returns the array in all of its places, constant memory too if it fits there.
Placed<float> placed(const std::vector<float>& numbers) {
  if (numbers.size() <= CONSTANTS)
    cudaMemcpyToSymbol(constants, numbers.data(), numbers.size() * sizeof(float));
  return placed<float>(copy_of(numbers), numbers.size());
}

/// Prints the sum of each launch's results, and remembers whether all were equal.
template <class T> class Results {
public:
  explicit Results(std::size_t count) : values_(count), data_(allocate<T>(count)) { clear(); }

  T* data() const { return data_; }

  void take(const char* place) {
    cudaMemcpy(values_.data(), data_, values_.size() * sizeof(T), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (const T value : values_)
      sum += double(value);
    std::printf("%s %.9g\n", place, sum);
    equal_ = equal_ && (first_.empty() || first_ == values_);
    if (first_.empty())
      first_ = values_;
    clear();
  }

  bool equal() const { return equal_; }

private:
  void clear() { cudaMemset(data_, 0, values_.size() * sizeof(T)); }

  std::vector<T> values_, first_;
  T* data_;
  bool equal_ = true;
};

template <class T> int finish(const Results<T>& results) {
  if (!results.equal())
    std::printf("results differ\n");
  return finish() != 0 || !results.equal() ? 1 : 0;
}

int main(int count_of_values, char** values) {
  const std::string kernel = count_of_values > 1 ? values[1] : "";
  Numbers numbers;
  if (kernel == "convolution") {
    const Placed<float> filter = placed(numbers.fractions(TAPS));
    const float* const image = copy_of(numbers.fractions(std::size_t(IMAGE) * (IMAGE + 2 * EDGE)));
    Results<float> out(std::size_t(IMAGE) * IMAGE);
    const dim3 blocks(IMAGE / 128, IMAGE);
    convolve<Place::plain><<<blocks, 128>>>(filter, image, out.data());
    out.take("plain");
    convolve<Place::readonly><<<blocks, 128>>>(filter, image, out.data());
    out.take("readonly");
    convolve<Place::texture><<<blocks, 128>>>(filter, image, out.data());
    out.take("texture");
    convolve<Place::constant><<<blocks, 128>>>(filter, image, out.data());
    out.take("constant");
    convolve<Place::shared><<<blocks, 128>>>(filter, image, out.data());
    out.take("shared");
    return finish(out);
  }
  if (kernel == "product") {
    constexpr int N = EDGE_OF_PRODUCT;
    const Placed<float> a = placed(numbers.fractions(N * N));
    const float* const b = copy_of(numbers.fractions(N * N));
    Results<float> c(N * N);
    const dim3 blocks(N / TILE, N / TILE), threads(TILE, TILE);
    multiply<Place::plain><<<blocks, threads>>>(a, b, c.data());
    c.take("plain");
    multiply<Place::readonly><<<blocks, threads>>>(a, b, c.data());
    c.take("readonly");
    multiply<Place::texture><<<blocks, threads>>>(a, b, c.data());
    c.take("texture");
    multiply<Place::shared><<<blocks, threads>>>(a, b, c.data());
    c.take("shared");
    return finish(c);
  }
  if (kernel == "sparse") {
    const Placed<float> vector = placed(numbers.fractions(CONSTANTS));
    const float* const entries = copy_of(numbers.fractions(ROWS * ROW_ENTRIES));
    const int* const columns = copy_of(numbers.all_below<int>(ROWS * ROW_ENTRIES, CONSTANTS));
    Results<float> out(ROWS);
    constexpr int BLOCKS = ROWS / 8;
    multiply_sparse<Place::plain><<<BLOCKS, 256>>>(vector, entries, columns, out.data());
    out.take("plain");
    multiply_sparse<Place::readonly><<<BLOCKS, 256>>>(vector, entries, columns, out.data());
    out.take("readonly");
    multiply_sparse<Place::texture><<<BLOCKS, 256>>>(vector, entries, columns, out.data());
    out.take("texture");
    multiply_sparse<Place::constant><<<BLOCKS, 256>>>(vector, entries, columns, out.data());
    out.take("constant");
    return finish(out);
  }
  if (kernel == "forces") {
    const float* const coordinates = copy_of(numbers.fractions(ATOMS * 4));
    const auto positions = placed(reinterpret_cast<const float4*>(coordinates), ATOMS);
    const int* const neighbours = copy_of(numbers.all_below<int>(ATOMS * NEIGHBOURS, ATOMS));
    Results<float> forces(ATOMS * 4);
    auto* const out = reinterpret_cast<float4*>(forces.data());
    push<Place::plain><<<ATOMS / 256, 256>>>(positions, neighbours, out);
    forces.take("plain");
    push<Place::readonly><<<ATOMS / 256, 256>>>(positions, neighbours, out);
    forces.take("readonly");
    push<Place::texture><<<ATOMS / 256, 256>>>(positions, neighbours, out);
    forces.take("texture");
    return finish(forces);
  }
  if (kernel == "histogram") {
    const std::uint8_t* const keys = copy_of(numbers.all_below<std::uint8_t>(KEYS, BINS));
    Results<int> bins(BINS);
    count<Place::plain><<<KEYS / 256 / KEYS_EACH, 256>>>(keys, bins.data());
    bins.take("plain");
    count<Place::shared><<<KEYS / 256 / KEYS_EACH, 256>>>(keys, bins.data());
    bins.take("shared");
    return finish(bins);
  }
  if (kernel == "layer") {
    const Placed<float> weights = placed(numbers.fractions(MAPS * WEIGHTS));
    const float* const digits = copy_of(numbers.fractions(std::size_t(DIGITS) * DIGIT * DIGIT));
    Results<float> out(std::size_t(DIGITS) * MAPS * MAP * MAP);
    const dim3 blocks(MAPS, DIGITS), threads(MAP, MAP);
    feed_forward<Place::plain><<<blocks, threads>>>(weights, digits, out.data());
    out.take("plain");
    feed_forward<Place::readonly><<<blocks, threads>>>(weights, digits, out.data());
    out.take("readonly");
    feed_forward<Place::texture><<<blocks, threads>>>(weights, digits, out.data());
    out.take("texture");
    feed_forward<Place::constant><<<blocks, threads>>>(weights, digits, out.data());
    out.take("constant");
    feed_forward<Place::shared><<<blocks, threads>>>(weights, digits, out.data());
    out.take("shared");
    return finish(out);
  }
  if (kernel == "sum") {
    constexpr int BLOCKS = ADDENDS / SUM_THREADS / 2;
    const float* const in = copy_of(numbers.fractions(ADDENDS));
    float* const scratch = allocate<float>(ADDENDS / 2);
    Results<float> out(BLOCKS);
    sum_blocks<Place::plain><<<BLOCKS, SUM_THREADS>>>(in, scratch, out.data());
    out.take("plain");
    sum_blocks<Place::shared><<<BLOCKS, SUM_THREADS>>>(in, scratch, out.data());
    out.take("shared");
    return finish(out);
  }
  if (kernel == "stencil") {
    constexpr std::size_t CELLS = std::size_t(IMAGE + 2) * (IMAGE + 2);
    const Placed<float> grid = placed(numbers.fractions(CELLS));
    Results<float> out(CELLS);
    const dim3 threads(32, 8), blocks(IMAGE / 32, IMAGE / 8);
    step<Place::plain><<<blocks, threads>>>(grid, out.data());
    out.take("plain");
    step<Place::readonly><<<blocks, threads>>>(grid, out.data());
    out.take("readonly");
    step<Place::texture><<<blocks, threads>>>(grid, out.data());
    out.take("texture");
    return finish(out);
  }
  std::fprintf(stderr, "usage: %s convolution|product|sparse|forces|histogram|layer|sum|stencil\n",
               values[0]);
  return 2;
}
