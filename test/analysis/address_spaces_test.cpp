#include "test/analysis/parsed.h"
#include "test/catch.h"

using warplens::Space;
using warplens::test::Parsed;

TEST_CASE("variables and parameters", "[spaces]") {
  Parsed parsed(R"(struct View { float* data; int n; };
  __constant__ float table[16];
  __device__ float counters[16];
  __global__ void k(float* a, View view, int i) {
    __shared__ float tile[32];
    extern __shared__ float dynamic[];
    float own[4];
    a[i] = tile[i] + dynamic[i] + own[i] + table[i] + counters[i] + view.data[i];
  })");
  CHECK(parsed.space("a[i]") == Space::global);
  CHECK(parsed.space("tile[i]") == Space::shared);
  CHECK(parsed.space("dynamic[i]") == Space::shared);
  CHECK(parsed.space("own[i]") == Space::local);
  CHECK(parsed.space("table[i]") == Space::constant);
  CHECK(parsed.space("counters[i]") == Space::global);
  CHECK(parsed.space("view.data[i]") == Space::global);
}

TEST_CASE("a pointer changes its space during its life", "[spaces]") {
  Parsed parsed(R"(__global__ void k(float* a, int c) {
    __shared__ float tile[32];
    float* p = tile;
    p[0] = 1;
    p = a + 3;
    p[1] = 2;
    if (c) p = tile;
    p[2] = 3;
    p = c ? tile : a;
    p[3] = 4;
    p = &tile[7];
    ++p;
    p += c;
    p[4] = 5;
    float* q = nullptr;
    if (c) q = p;
    q[5] = 6;
  })");
  CHECK(parsed.space("p[0]") == Space::shared);
  CHECK(parsed.space("p[1]") == Space::global);
  CHECK(parsed.space("p[2]") == Space::generic);
  CHECK(parsed.space("p[3]") == Space::generic);
  CHECK(parsed.space("p[4]") == Space::shared);
  CHECK(parsed.space("q[5]") == Space::shared);
}

TEST_CASE("loops carry spaces around", "[spaces]") {
  Parsed parsed(R"(__global__ void k(float* a, int n) {
    __shared__ float tile[32];
    float* p = a;
    for (int i = 0; i < n; ++i) {
      p[0] = 1;
      p = tile;
      p[1] = 1;
    }
    float* from = a; float* to = a + 100;
    for (int i = 0; i < n; ++i) {
      to[2] = from[3];
      float* other = from; from = to; to = other;
    }
  })");
  CHECK(parsed.space("p[0]") == Space::generic);
  CHECK(parsed.space("p[1]") == Space::shared);
  CHECK(parsed.space("to[2]") == Space::global);
  CHECK(parsed.space("from[3]") == Space::global);
}

TEST_CASE("parameters join the arguments of all calls", "[spaces]") {
  Parsed parsed(R"(
  __device__ float in_shared(float* p) { return p[0]; }
  __device__ float in_both(float* p) { return p[1]; }
  __device__ float nested(float* p, int n) { return n ? nested(p + 1, n - 1) : in_shared(p) + p[2]; }
  __device__ float never_called(float* p) { return p[3]; }
  __device__ float called_by_never(float* p) { return p[4]; }
  __device__ float never_called_either(float* p) { return called_by_never(p); }
  __global__ void k(float* a) {
    __shared__ float tile[32];
    a[9] = in_shared(tile) + in_both(tile) + in_both(a) + nested(tile, 3);
  })");
  CHECK(parsed.space("p[0]") == Space::shared);
  CHECK(parsed.space("p[1]") == Space::generic);
  CHECK(parsed.space("p[2]") == Space::shared);
  CHECK(parsed.space("p[3]") == Space::generic);
  CHECK(parsed.space("p[4]") == Space::generic);
}

TEST_CASE("a function's result depends on its arguments", "[spaces]") {
  Parsed parsed(R"(
  __device__ float* after(float* p, int n) { return n > 0 ? p + n : p; }
  __device__ float& element(float* p, int n) { return p[n]; }
  __device__ float* own_tile() { __shared__ float tile[32]; return tile; }
  __device__ float* either(float* p, float* q, int n) { if (n) return p; return q; }
  __global__ void k(float* a, int n) {
    __shared__ float tile[32];
    after(a, n)[0] = after(tile, n)[1];
    element(tile, n) = element(a, n);
    own_tile()[2] = 0;
    either(tile, own_tile(), n)[3] = either(a, tile, n)[4];
    float& r = tile[5];
    r = 7;
  })");
  CHECK(parsed.space("after(a, n)[0]") == Space::global);
  CHECK(parsed.space("after(tile, n)[1]") == Space::shared);
  CHECK(parsed.space("own_tile()[2]") == Space::shared);
  CHECK(parsed.space("either(tile, own_tile(), n)[3]") == Space::shared);
  CHECK(parsed.space("either(a, tile, n)[4]") == Space::generic);
  CHECK(parsed.space("r") == Space::shared);
}

TEST_CASE("objects carry pointers", "[spaces]") {
  Parsed parsed(R"(
  struct View {
    float* data;
    __device__ explicit View(float* p) : data(p) {}
    __device__ float& operator[](int i) { return data[i]; }
    __device__ float* begin() const { return data; }
  };
  struct Functor { float* out; __device__ void operator()(int i) const { out[i] = 1; } };
  struct Two { float* first; float* second; };
  __device__ float read(const View& view) { return view.data[11]; }
  __global__ void k(float* a, Functor f, int n) {
    __shared__ float tile[32];
    View shared(tile);
    View global(a);
    shared.begin()[0] = global.begin()[1];
    f(n);
    Two two{tile, tile + 1};
    two.first[2] = 0;
    Two copy = two;
    copy.second[3] = 0;
    two.first = a;
    two.first[4] = 0;
    float x = read(shared);
  })");
  CHECK(parsed.space("shared.begin()[0]") == Space::shared);
  CHECK(parsed.space("global.begin()[1]") == Space::global);
  CHECK(parsed.space("out[i]") == Space::global);
  CHECK(parsed.space("two.first[2]") == Space::shared);
  CHECK(parsed.space("copy.second[3]") == Space::shared);
  CHECK(parsed.space("two.first[4]") == Space::generic); // fields are not distinguished
  CHECK(parsed.space("view.data[11]") == Space::shared);
}

TEST_CASE("lambdas keep the spaces of their captures", "[spaces]") {
  Parsed parsed(R"(
  struct dim3 { unsigned x, y, z; __host__ __device__ dim3(unsigned n) : x(n), y(1), z(1) {} };
  int cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, void* stream = 0);
  template <class F> __device__ void apply(F f) { f(3); }
  template <class F> __global__ void launch(F f) { f(1); }
  __global__ void k(float* a) {
    __shared__ float tile[32];
    float* p = tile;
    apply([=](int i) { p[i] = a[i]; });
    apply([&](int j) { p[j] = 2; });
  }
  void host(float* h) { auto f = [=] __device__ (int l) { h[l] = 1; }; launch<<<1, 1>>>(f); }
  )",
                warplens::test::bare_arguments(), true);
  CHECK(parsed.space("p[i]") == Space::shared);
  CHECK(parsed.space("a[i]") == Space::global);
  CHECK(parsed.space("p[j]") == Space::shared);
  CHECK(parsed.space("h[l]") == Space::global);
}

TEST_CASE("unknown pointers are generic", "[spaces]") {
  Parsed parsed(R"(
  struct Node { Node* next; float v; };
  __device__ float* where;
  __device__ void change(float** p);
  __global__ void k(float** rows, Node* node, size_t bits, int i) {
    __shared__ float tile[32];
    rows[i][0] = 1;
    node->next->v = 2;
    where[1] = 3;
    ((float*)bits)[2] = 4;
    float* p = tile;
    change(&p);
    p[3] = 5;
  })");
  CHECK(parsed.space("rows[i][0]") == Space::generic);
  CHECK(parsed.space("rows[i]") == Space::global);
  CHECK(parsed.space("node->next->v") == Space::generic);
  CHECK(parsed.space("node->next") == Space::global);
  CHECK(parsed.space("where[1]") == Space::generic);
  CHECK(parsed.space("((float*)bits)[2]") == Space::generic);
  CHECK(parsed.space("p[3]") == Space::generic);
}

TEST_CASE("the pointers that atomics and __ldg are given", "[spaces]") {
  Parsed parsed(R"(__global__ void k(int* a, const float* b, float* out) {
    __shared__ int bins[32];
    atomicAdd(bins + 1, 1);
    atomicAdd(&a[2], 1);
    out[0] = __ldg(b + 3);
  })");
  CHECK(parsed.space("bins + 1") == Space::shared);
  CHECK(parsed.space("&a[2]") == Space::global);
  CHECK(parsed.space("b + 3") == Space::global);
}

TEST_CASE("templates are analysed by instantiation", "[spaces]") {
  Parsed parsed(R"(
  template <class T, bool in_shared> __global__ void k(T* a) {
    __shared__ T tile[32];
    T* p;
    if constexpr (in_shared) p = tile; else p = a;
    p[0] = T(1);
  }
  template __global__ void k<float, true>(float*);
  template __global__ void k<float, false>(float*);)");
  std::vector<Space> spaces{parsed.space("p[0]", 0), parsed.space("p[0]", 1)};
  std::sort(spaces.begin(), spaces.end());
  CHECK(spaces == std::vector<Space>{Space::global, Space::shared});
}
