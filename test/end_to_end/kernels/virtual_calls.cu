// Objects that device code makes and deletes, whose functions only their tables name.
#include <cstdio>

struct Shape {
  __device__ virtual float area(float x) const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  __device__ float area(float x) const override { return x * x; }
};
struct Disc : Shape {
  __device__ float area(float x) const override {
    float sum = 0;
    for (int i = 0; i < int(x); ++i)
      sum += x / float(i + 1);
    return sum;
  }
};

__global__ void make(Shape** shapes) {
  shapes[0] = new Square;
  shapes[1] = new Disc[1];
}
__global__ void areas(Shape** shapes, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = shapes[i / 4 % 2]->area(out[i]);
}
// Its tables are the machine code's own, where those of the objects that another kernel made are the program's.
__global__ void own_areas(float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Shape* const shape = i / 4 % 2 == 0 ? static_cast<Shape*>(new Square) : new Disc;
  out[i] = shape->area(out[i]);
  delete shape;
}
__global__ void unmake(Shape** shapes) {
  delete shapes[0];
  delete[] static_cast<Disc*>(shapes[1]);
}

int main() {
  constexpr int threads = 32768;
  Shape** shapes = nullptr;
  float* out = nullptr;
  cudaMalloc(&shapes, 2 * sizeof *shapes);
  cudaMallocManaged(&out, threads * sizeof *out);
  for (int i = 0; i < threads; ++i)
    out[i] = 2;
  make<<<1, 1>>>(shapes);
  areas<<<threads / 256, 256>>>(shapes, out);
  own_areas<<<threads / 256, 256>>>(out);
  unmake<<<1, 1>>>(shapes);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s %g %g\n", cudaGetErrorString(error), double(out[0]), double(out[4]));
  return error != cudaSuccess;
}
