// nvcc takes templates of dependent classes without the keyword `template` in front; a function has some without it, and one that needs none.
// probes: 4
// runs on the GPU only
template <class T> struct Caster {
  template <int n> __device__ static T cast(const T* from, int i) { return from[n + i]; }
  template <int n> __device__ T add(T to) const { return to + n; }
};
namespace plain {
template <int n> __device__ int same(int i) { return i + n; }
} // namespace plain

template <class T> __global__ void cast(T* numbers, int n) {
  constexpr int first = 1;
  const Caster<T> caster;
  numbers[threadIdx.x] += Caster<T>::cast<first>(
      numbers, plain::same<first>(n)); // Clang's text keeps its place behind this line
  numbers[n] = caster.add<first>(numbers[0]);
}

int main() { cast<<<1, 1>>>((float*)nullptr, 1); }
