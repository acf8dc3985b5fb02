// The language around accesses: each must keep its meaning, and nothing may trip the rewriter.
#include <new>
#include <type_traits>
#include <cooperative_groups.h>
#include <initializer_list>
template <class T> struct Base { T* data; __device__ virtual T get(int i) { return data[i]; } __device__ virtual ~Base() {} };
template <class T> struct Derived : Base<T> { using Base<T>::data; __device__ T get(int i) override { return this->data[i] + data[i+1]; } };
template struct Derived<double>;
template <class T> __device__ T explicit_one(T* p) { return *p; }
template __device__ int explicit_one<int>(int*);
enum E { A = 3, B = sizeof(int) };
static_assert(sizeof(int) == 4, "");
struct P { int x, y; P* next; __device__ P& operator+=(const P& o) { x += o.x; y += o.y; return *this; } friend __device__ P operator+(P a, const P& b) { return a += b; } };
struct Node { Node* left; float v; };
__device__ float walk(const Node* n) { return n ? n->v + walk(n->left) : 0.f; }
__device__ void recurse(int& x, int d) { if (d) { x++; recurse(x, d - 1); } }
typedef int (*Fn)(int);
__device__ int plus(int a) { return a + 1; }
__device__ Fn table[2] = {plus, plus};
__device__ P points[4];
__device__ int matrix[4][8];
__constant__ P cp;
template <class F> __device__ auto call(F&& f) { return f(3); }
namespace { namespace inner { __device__ int hidden[4]; } }
struct Constants { static constexpr int K = 4; };
union U { struct { int a, b; }; long long l; };
template <int... I> __device__ int fold(const int* p) { return (p[I] + ...); }
template <class T> struct Wrapper { T value; __device__ operator T&() { return value; } };
extern "C" __global__ void constructs(int* p, P* q, Base<float>* b, U* u, Wrapper<int>* w, const char* s, float2* f2, bool* flags, int** pp, int (*arr)[8], int P::*member) {
  p[0] = b->get(p[1]);
  q[0] += q[1];
  q[2] = q[0] + q[3];
  q->next->next->x = 3;
  P local = cp;
  local += q[4];
  int k = 0; recurse(k, 3); recurse(p[2], 3);
  p[3] = table[p[4]](p[5]);
  p[6] = call([&](int i) { return p[i] + k + points[i].x; });
  p[7] = inner::hidden[2] + Constants::K;
  u[0].a = u[1].b; u[2].l = 3;
  p[8] = fold<0, 1, 2>(p);
  p[9] = w[0];
  int& r = w[1]; r = 4;
  new (p + 10) int(p[11]);
  int* heap = new int[p[12]]; heap[0] = 1; delete[] heap;
  while (*s++ == 'a') ;
  *p++ = *++p;
  auto [x, y] = f2[3];
  const auto& [fx, fy] = f2[4];
  p[13] = fx + x;
  flags[0] = flags[1] && flags[2] || !flags[3];
  pp[0][1] = *pp[2]; **pp = 3;
  arr[1][2] = arr[2][1]; matrix[1][p[14]] = (*arr)[3];
  q[0].*member = q->*member;
  asm volatile("mov.u32 %0, %1;" : "=r"(p[15]) : "r"(p[16]));
  struct Local { int* m; __device__ int go() { return m[0]; } } l{p};
  p[17] = l.go();
  static int kept = 3; kept++; __shared__ P sp[4]; sp[0] = local; sp[1].x = sp[0].y;
  for (auto v : {1, 2, 3}) p[18] += v;
  if (int v = p[19]; v > 2) p[20] = v; 
  switch (int v = p[21]) { case A: p[22] = v; break; case B: { p[23]--; } default: break; }
  do { p[24] <<= 1; } while (p[25]);
  label: if (p[26] > 3) goto label;
  p[27] = p[28] ? p[29] : p[30] ? 1 : 2;
  p[31] = ({ int z = p[32]; z; });
  decltype(p[0]) ref = p[33]; ref = 3;
  p[34] = static_cast<float>(p[35]); p[36] = reinterpret_cast<float&>(p[37]); (float&)p[38] = 2;
  const_cast<volatile int&>(p[39]) = 3;
  char c = "hello"[p[40]]; p[41] = c; p[42] = __func__[0];
  int arr2[3] = {p[43], [&] { return p[44]; }()}; p[45] = arr2[k];
  auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  p[46] = tile.shfl_down(p[47], 1) + __shfl_down_sync(~0u, p[48], 1);
  p[49] = p[50], p[51] = noexcept(p[0]) + alignof(int);
  int* np = &p[52]; int* nq = p + p[53]; *np = *nq; 3[p] = 2;
}
int main() {}
