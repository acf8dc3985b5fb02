// Texture fetches and surface accesses: the object takes the site along.
#define FETCH(x) tex1Dfetch<float>(line, x)
#define OF(object) tex2D<float>(object, 1, 2)

__constant__ cudaTextureObject_t bound[4];
struct Holder {
  cudaTextureObject_t texture;
  __device__ operator cudaTextureObject_t() const { return texture; }
};

template <class T> __device__ T middle(cudaTextureObject_t texture, int size) {
  return tex2D<T>(texture, size / 2.f, size / 2.f);
}

__global__ void fetches(cudaTextureObject_t line, const cudaTextureObject_t* several, Holder holder, int* order,
                        float* out) {
  out[0] = tex1Dfetch<float>(line, 3) + tex1D<float>(line, .5f) + tex2D<float4>(bound[order[0]], 1, 2).x;
  out[1] = tex3D<float>((several[1]), 0, order[1]++, 2) + ::tex1DLayered<float>(holder, 0, 1);
  float2 value;
  tex2DLayered(&value, several[2], 1.f, 2.f, order[2]);
  out[2] = value.x + texCubemap<float>(line, 1, 0, 0) + texCubemapLayered<float>(line, 1, 0, 0, 2);
  out[3] = tex2Dgather<float4>(line, 1, 2).y + tex2Dgather<float4>(line, 1, 2, 3).y;
  out[4] = FETCH(4) + FETCH(order[3]) + OF(line) + OF(several[3]);
  out[5] = middle<float>(line, 16) + middle<uchar4>(line, 16).x;
  out[6] = tex2D<float>(line, tex1Dfetch<float>(line, 5), 0);
  out[7] = tex2DLod<float>(line, 0, 0, 1) + tex2DGrad<float>(line, 0, 0, make_float2(0, 0), make_float2(0, 0));
  bool resident;
  out[8] = tex2D<float>(line, 0, 0, &resident);
}
__global__ void surfaces(cudaSurfaceObject_t surface, float* out) {
  out[0] = surf2Dread<float>(surface, 4, 1) + surf1Dread<float>(surface, 4, cudaBoundaryModeClamp);
  surf2Dwrite(out[1], surface, 8, 1);
  surf3Dwrite<float>(2, surface, 8, 1, 2, cudaBoundaryModeZero);
  uchar4 pixel;
  surf2DLayeredread(&pixel, surface, 4, 1, 2);
  surfCubemapwrite(pixel, surface, 4, 1, 2);
}
int main() {}
