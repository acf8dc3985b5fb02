// The kernels of bench_machine: what fills most of real kernels' instructions.

extern "C" __global__ void multiply_adds(float* o, int n) {
  float x = threadIdx.x, y = 1, z = 2, w = 3;
  for (int k = 0; k < n; ++k) {
    x = fmaf(x, 0.999f, y);
    y = fmaf(y, 0.998f, z);
    z = fmaf(z, 0.997f, w);
    w = fmaf(w, 0.996f, x);
  }
  o[blockIdx.x * blockDim.x + threadIdx.x] = x + y + z + w;
}

extern "C" __global__ void integers(unsigned* o, int n) {
  unsigned x = threadIdx.x * 2654435761u + 1, s = 0;
  for (int k = 0; k < n; ++k) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    if (x & 1)
      s += x % 1000u;
    else
      s ^= x;
  }
  o[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[32][32], tile_b[32][32];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x;
  float s[4] = {};
  for (int k = 0; k < n; k += 32) {
    for (int r = 0; r < 4; ++r) {
      tile_a[y + 8 * r][x] = a[(blockIdx.y * 32 + y + 8 * r) * n + k + x];
      tile_b[y + 8 * r][x] = b[(k + y + 8 * r) * n + column];
    }
    __syncthreads();
    for (int j = 0; j < 32; ++j)
      for (int r = 0; r < 4; ++r)
        s[r] += tile_a[y + 8 * r][j] * tile_b[j][x];
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r)
    c[(blockIdx.y * 32 + y + 8 * r) * n + column] = s[r];
}

extern "C" __global__ void bodies(const float4* p, float4* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 q = p[i];
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; ++j) {
    const float4 r = p[j];
    const float dx = r.x - q.x, dy = r.y - q.y, dz = r.z - q.z;
    float s = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
    s = s * s * s * r.w;
    ax += dx * s;
    ay += dy * s;
    az += dz * s;
  }
  a[i] = make_float4(ax, ay, az, 0);
}

extern "C" __global__ void gather(const int* index, const float* x, float* o, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  float s = 0;
  for (int k = i; k < n; k += stride)
    s += x[index[k]];
  o[i] = s;
}
