// Components of vectors that the compiler accesses at once: one probe at the first, as wide as all of them together.
template <class In>
__device__ float sum_of_squares(In in, int i) {
  return in[i].x * in[i].x + in[i].y * in[i].y + in[i].z * in[i].z + in[i].w * in[i].w;
}

struct Constant {
  __device__ float4 operator[](int) const { return make_float4(1, 2, 3, 4); }
};

__global__ void joined(const float4* a, const int2* __restrict__ at, float4* out, int n, int i) {
  out[i].x = sum_of_squares(a, i) + sum_of_squares(Constant(), i);
  out[i].y = 1;
  out[i].z = 2;
  out[i].w = 3;
  out[i + 1].x += 1;
  out[i + 1].y += 2;
  float in_loop = 0;
  for (int j = 0; j < n; ++j)
    in_loop += out[j].x * at[i].x + at[i].y;
  out[at[0].y].z = in_loop + at[0].x;
  __shared__ __align__(16) float row[32];
  row[i] = in_loop;
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < 4; ++j)
    sum += row[j];
  out[n].w = sum;
}
