// An access to memory in one instance of a template is a value or a proxy in another.
// probes: 12
#include <cstdio>
#include <utility>

struct Counting {
  int start;
  __host__ __device__ int operator[](int i) const { return start + i; }
  __host__ __device__ int operator*() const { return start; }
  __host__ __device__ Counting operator+(int i) const { return {start + i}; }
};

/// Reads and writes through objects of its own, some of which cannot be copied.
struct Halves {
  int* data;
  struct Half {
    int* place;
    explicit __device__ Half(int* where) : place(where) {}
    Half(const Half&) = delete;
    __device__ operator int() const { return *place / 2; }
    __device__ const Half& operator=(int value) const { return *place = 2 * value, *this; }
    __device__ const Half& operator+=(int value) const { return *place += 2 * value, *this; }
  };
  __device__ Half operator[](int i) const { return Half(data + i); }
};

template <class T, class U> __device__ void assign(T& to, U&& from) { to = std::forward<U>(from); }

template <class In, class Out> __global__ void copy(In in, Out out) {
  const int i = threadIdx.x;
  out[i] = in[i] + *(in + i);
  out[i] += i % 2 ? in[i] : 1;
}

template <class In> __global__ void forward(In in, int* out) { assign(out[threadIdx.x], in[threadIdx.x]); }

int main() {
  int *in, *out;
  cudaMallocManaged(&in, 4 * 32);
  cudaMallocManaged(&out, 4 * 32);
  bool right = true;
  const auto check = [&](auto expected) {
    cudaDeviceSynchronize();
    for (int i = 0; i < 32; ++i) {
      right = right && out[i] == expected(i);
      in[i] = 3 * i, out[i] = 0;
    }
  };
  check([](int i) { return 0; });
  copy<<<1, 32>>>(in, out);
  check([](int i) { return 6 * i + (i % 2 ? 3 * i : 1); });
  copy<<<1, 32>>>(Counting{5}, out);
  check([](int i) { return 2 * (5 + i) + (i % 2 ? 5 + i : 1); });
  copy<<<1, 32>>>(Counting{5}, Halves{out});
  check([](int i) { return 2 * (2 * (5 + i) + (i % 2 ? 5 + i : 1)); });
  copy<<<1, 32>>>((const int*)in, Halves{out});
  check([](int i) { return 2 * (6 * i + (i % 2 ? 3 * i : 1)); });
  forward<<<1, 32>>>(in, out);
  check([](int i) { return 3 * i; });
  forward<<<1, 32>>>(Counting{7}, out);
  check([](int i) { return 7 + i; });
  std::puts(right ? "right" : "wrong");
}
