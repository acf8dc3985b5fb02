#include "test/analysis/parsed.h"
#include "test/catch.h"

using warplens::AccessKind;
using warplens::test::Parsed;

TEST_CASE("a redundant load is removed, the first one stays", "[accesses_left]") {
  Parsed parsed("__global__ void k(float* a, float* out, int i) { out[0] = a[i] + a[i]; }");
  CHECK(parsed.fate("a[i]", 0) == "stays");
  CHECK(parsed.fate("a[i]", 1) == "removed");
  CHECK(parsed.fate("out[0]") == "stays");
}

TEST_CASE("a load is not redundant if a store may have changed its value", "[accesses_left]") {
  Parsed parsed("__global__ void k(float* a, float* out, int i) { out[0] = a[i] + 1; out[1] = a[i]; }");
  CHECK(parsed.fate("a[i]", 0) == "stays");
  CHECK(parsed.fate("a[i]", 1) == "stays");
}

TEST_CASE("a value that was just stored is not loaded", "[accesses_left]") {
  Parsed parsed("__global__ void k(float* a, float* b, int i, float x) { a[i] = x; b[i] = 2 * a[i]; }");
  CHECK(parsed.fate("a[i]", 0) == "stays");
  CHECK(parsed.fate("a[i]", 1) == "removed");
  CHECK(parsed.fate("b[i]") == "stays");
}

TEST_CASE("a dead load and a store that is overwritten are removed", "[accesses_left]") {
  Parsed parsed("__global__ void k(float* a, float* b, int i) { float unused = a[i]; b[0] = 1; b[0] = 2; }");
  CHECK(parsed.fate("a[i]") == "removed");
  CHECK(parsed.fate("b[0]", 0) == "removed");
  CHECK(parsed.fate("b[0]", 1) == "stays");
}

TEST_CASE("an invariant load is hoisted from a loop", "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(const float* __restrict__ a, float* __restrict__ out, int n, int i) {
    for (int j = 0; j < n; ++j)
      out[j] = a[i] * a[j];
  })");
  CHECK(parsed.fate("a[i]") == "hoisted");
  CHECK(parsed.fate("a[j]") == "stays");
  CHECK(parsed.fate("out[j]") == "stays");
}

TEST_CASE("an invariant load that may be changed by the loop's store stays in it", "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(const float* a, float* out, int n, int i) {
    for (int j = 0; j < n; ++j)
      out[j] = a[i] + 1;
  })");
  CHECK(parsed.fate("a[i]") == "stays");
}

TEST_CASE("hoisting from the inner of two loops and from the loop around a call", "[accesses_left]") {
  Parsed parsed(R"(__device__ float weight(const float* __restrict__ w, int i) { return w[i]; }
  __global__ void k(const float* __restrict__ a, const float* __restrict__ w, float* __restrict__ out, int n, int m) {
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < m; ++l)
        out[j * m + l] = a[j] * weight(w, 7) + a[l];
  })");
  CHECK(parsed.fate("a[j]") == "hoisted");
  CHECK(parsed.fate("w[i]") == "hoisted");
  CHECK(parsed.fate("a[l]") == "stays");
}

TEST_CASE("an accumulation in memory becomes one in a register", "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(const float* __restrict__ a, float* __restrict__ out, int n, int i) {
    for (int j = 0; j < n; ++j)
      out[i] += a[j];
  })");
  CHECK(parsed.fate("out[i]") == "hoisted");
  CHECK(parsed.fate("a[j]") == "stays");
}

TEST_CASE("the outermost loop that an access is hoisted out of", "[accesses_left]") {
  Parsed parsed(R"(__device__ float weight(const float* __restrict__ w, int i) { return w[i]; }
  __global__ void k(const float* __restrict__ a, const float* __restrict__ w, float* __restrict__ out, int n) {
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < n; ++l)
        for (int m = 0; m < n; ++m)
          out[(j * n + l) * n + m] = a[j] * a[l] * a[m] * a[7] * weight(w, 1);
  })");
  const auto line_of_loop = [&](const char* access) {
    return parsed.access_left(access).out_of.value().line;
  };
  CHECK(line_of_loop("a[7]") == 3);
  CHECK(line_of_loop("a[j]") == 4);
  CHECK(line_of_loop("a[l]") == 5);
  CHECK(parsed.fate("w[i]") == "hoisted");
  CHECK_FALSE(parsed.access_left("w[i]").out_of);
  CHECK_FALSE(parsed.access_left("a[m]").out_of);
}

TEST_CASE("an update is left as the half that runs in every iteration", "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(const float* a, float* out, int n, int i) {
    for (int j = 0; j < n; ++j)
      out[i] += a[j];
  })");
  CHECK(parsed.fate("out[i]") == "stays");
  CHECK(parsed.access_left("out[i]").kind == AccessKind::store);
}

TEST_CASE("an update is left as the half that remains", "[accesses_left]") {
  Parsed parsed("__global__ void k(float* a, float x) { a[0] = x; a[0] += 2; a[1] += x; ++a[2]; a[3]--; }");
  CHECK(parsed.fate("a[0]", 0) == "removed");
  CHECK(parsed.fate("a[0]", 1) == "stays");
  CHECK(parsed.access_left("a[0]", 1).kind == AccessKind::store);
  for (const char* whole : {"a[1]", "a[2]", "a[3]"}) {
    INFO(whole);
    CHECK(parsed.fate(whole) == "stays");
    CHECK(parsed.access_left(whole).kind == AccessKind::update);
  }
}

TEST_CASE("the accesses of a fully unrolled loop stay", "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(const float* a, float* out, int i) {
    float sum = 0;
    #pragma unroll
    for (int j = 0; j < 4; ++j)
      sum += a[i + j];
    out[i] = sum;
  })");
  CHECK(parsed.fate("a[i + j]") == "stays");
  CHECK(parsed.fate("out[i]") == "stays");
}

TEST_CASE(
    "a local array that unrolling puts into registers is removed, one that is indexed at run time stays",
    "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(const float* a, float* out, int n) {
    float part[4];
    #pragma unroll
    for (int j = 0; j < 4; ++j)
      part[j] = a[j];
    float table[8];
    for (int j = 0; j < 8; ++j)
      table[j] = a[n * j];
    out[0] = part[0] + part[3] + table[n];
  })");
  CHECK(parsed.fate("part[j]") == "removed");
  CHECK(parsed.fate("part[0]") == "removed");
  CHECK(parsed.fate("part[3]") == "removed");
  CHECK(parsed.fate("table[j]") == "stays");
  CHECK(parsed.fate("table[n]") == "stays");
  CHECK(parsed.fate("a[j]") == "stays");
}

TEST_CASE("stores in both branches stay, however the compiler merges them", "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(float* a, float* b, int i, int c) {
    if (c) a[i] = 1; else a[i] = 2;
    float x = c > 2 ? b[0] : b[1];
    a[i + 1] = x;
  })");
  CHECK(parsed.fate("a[i]", 0) == "stays");
  CHECK(parsed.fate("a[i]", 1) == "stays");
  CHECK(parsed.fate("b[0]") == "stays");
  CHECK(parsed.fate("b[1]") == "stays");
}

TEST_CASE("loads in both branches of one place stay both", "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(float* a, float* b, int i, int c) {
    float x;
    if (c) x = a[i] + 1; else x = a[i] * 3;
    b[0] = x;
  })");
  CHECK(parsed.fate("a[i]", 0) == "stays");
  CHECK(parsed.fate("a[i]", 1) == "stays");
}

TEST_CASE("atomics and loads through the read-only path stay, unused ones of the latter go",
          "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(int* counter, const float* a, const int* j, float* out, int n) {
    atomicAdd(counter + 1, 3);
    out[0] = __ldg(a + n);
    __ldg(a + 2 * n);
    out[1] = a[__ldgi(j + 5)];
  })");
  CHECK(parsed.fate("counter + 1") == "stays");
  CHECK(parsed.fate("a + n") == "stays");
  CHECK(parsed.fate("a + 2 * n") == "removed");
  CHECK(parsed.fate("j + 5") == "stays");
}

TEST_CASE("objects are copied at the operator or at their construction", "[accesses_left]") {
  Parsed parsed(R"(__device__ float sum(float4 v) { return v.x + v.y + v.z + v.w; }
  __device__ float4 pick(const float4* r, int i) { return r[i]; }
  __global__ void k(float4* q, const float4* r, float* out, int n) {
    q[n] = r[n];
    float4 used = r[1];
    float4 direct(r[2]);
    float4 unused = r[3];
    q[4] = used;
    out[0] = direct.x + sum(r[5]) + pick(r, 6).y;
    q[5].x = r[7].w;
  })");
  for (const char* copied : {"q[n]", "r[n]", "r[1]", "r[2]", "q[4]", "r[5]", "r[i]", "q[5].x", "r[7].w"}) {
    INFO(copied);
    CHECK(parsed.fate(copied) == "stays");
  }
  CHECK(parsed.fate("r[3]") == "removed");
}

TEST_CASE("members, dereferences, references and parentheses", "[accesses_left]") {
  Parsed parsed(R"(struct Pair { float x, y; float row[4]; };
  __global__ void k(Pair* p, float* a, float* b, int n) {
    b[0] = p->x + p->row[n] + *a + (a[1]);
    float& r = a[2];
    b[1] = r;
    b[2] = r;
    float unused = p->y;
    unused = p[3].row[n];
    unused = *(a + 9);
    (*p).y = 1;
    r += 1;
  })");
  for (const char* used : {"p->x", "p->row[n]", "*a", "a[1]", "(*p).y"}) {
    INFO(used);
    CHECK(parsed.fate(used) == "stays");
  }
  for (const char* unused : {"p->y", "p[3].row[n]", "*(a + 9)"}) {
    INFO(unused);
    CHECK(parsed.fate(unused) == "removed");
  }
}

TEST_CASE("SpMV in CSR: every access stays where it is", "[accesses_left]") {
  Parsed parsed(
      R"(__global__ void spmv(const int* rowIndices, const int* indices, const float* val, const float* y, float* x,
                       int rows, int i) {
    if (i < rows) {
      float t = 0;
      int lb = rowIndices[i];
      int ub = rowIndices[i + 1];
      for (int j = lb; j < ub; ++j) {
        int ind = indices[j];
        t += val[j] * y[ind];
      }
      x[i] = t;
    }
  })");
  for (const char* access :
       {"rowIndices[i]", "rowIndices[i + 1]", "indices[j]", "val[j]", "y[ind]", "x[i]"}) {
    INFO(access);
    CHECK(parsed.fate(access) == "stays");
  }
}

TEST_CASE("tiled matrix multiply: every access stays where it is", "[accesses_left]") {
  Parsed parsed(
      R"(__global__ void multiply(const float* a, const float* b, float* c, int n, int row, int column) {
    __shared__ float as[16][16];
    __shared__ float bs[16][16];
    const int tx = threadIdx_x, ty = __nvvm_read_ptx_sreg_tid_y();
    float sum = 0;
    for (int m = 0; m < n / 16; ++m) {
      as[ty][tx] = a[row * n + m * 16 + tx];
      bs[ty][tx] = b[(m * 16 + ty) * n + column];
      __syncthreads();
      for (int k = 0; k < 16; ++k)
        sum += as[ty][k] * bs[k][tx];
      __syncthreads();
    }
    c[row * n + column] = sum;
  })");
  for (const char* access :
       {"as[ty][tx]", "bs[ty][tx]", "a[row * n + m * 16 + tx]", "b[(m * 16 + ty) * n + column]", "as[ty][k]",
        "bs[k][tx]", "c[row * n + column]"}) {
    INFO(access);
    CHECK(parsed.fate(access) == "stays");
  }
}

TEST_CASE("a loop that runs once is removed, but nothing is hoisted from it", "[accesses_left]") {
  Parsed parsed("__global__ void k(float* a, float* b) { for (int j = 0; j < 1; ++j) b[j] = a[j]; }");
  CHECK(parsed.fate("a[j]") == "stays");
  CHECK(parsed.fate("b[j]") == "stays");
}

TEST_CASE("an access kept by one of two inlined copies is left", "[accesses_left]") {
  Parsed parsed(R"(__device__ float at(const float* a, int i) { return a[i]; }
  __global__ void k(const float* a, float* b, int i) { b[0] = at(a, i) + at(a, i); }
  __global__ void l(const float* a, float* b, int i) { at(a, i); })");
  CHECK(parsed.fate("a[i]") == "stays");
}

TEST_CASE("accesses of uncompiled functions and at unknown positions are left", "[accesses_left]") {
  Parsed parsed(R"(__device__ void never(float* a) { float unused = a[3]; }
  template <class T> __global__ void k(T* a, T* b) { T unused = a[1]; b[2] = a[4]; }
  template __global__ void k<float>(float*, float*);)");
  CHECK(parsed.fate("a[3]") == "stays");
  CHECK(parsed.fate("a[1]") == "removed");
  CHECK(parsed.fate("a[4]") == "stays");
  CHECK(warplens::analysis::AccessesLeft().of({"/nowhere.cu", 1, 1}, AccessKind::load, false).is_left);
}

TEST_CASE("accesses of a macro share a position: none goes as long as one stays", "[accesses_left]") {
  Parsed parsed(R"(#define BOTH (a[0] + a[0])
  __global__ void k(float* a, float* b) { b[0] = BOTH; })");
  CHECK(parsed.fate("a[0]", 0) == "stays");
  CHECK(parsed.fate("a[0]", 1) == "stays");
}

namespace {

/// Returns the iterations that an access is left in: `0,4 1,4` with a number for each of its unrolled loops,
/// outermost first; `*`: any.
std::string iterations(Parsed& parsed, const char* access, std::size_t occurrence = 0) {
  std::string result;
  for (const auto& vector : parsed.access_left(access, occurrence).iterations.left) {
    result += result.empty() ? "" : " ";
    for (std::size_t i = 0; i < vector.size(); ++i) {
      result += i == 0 ? "" : ",";
      result += vector[i] ? std::to_string(*vector[i]) : std::string("*");
    }
  }
  return result;
}

} // namespace

TEST_CASE("an invariant load in an unrolled loop is left once", "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(const float* a, const float* w, float* out, int n, int b) {
    float s = 0;
    for (int j = 0; j < 4; ++j)
      s += a[j * n] * w[b];
    out[0] = s;
  })");
  CHECK(iterations(parsed, "a[j * n]") == "0 1 2 3");
  CHECK(iterations(parsed, "w[b]") == "0");
  CHECK(iterations(parsed, "out[0]").empty());
}

TEST_CASE("a filter: each tap and each input is left once", "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(const float* taps, const float* in, float* out, int base) {
    float s[3];
    #pragma unroll
    for (int o = 0; o < 3; ++o) {
      s[o] = 0;
      #pragma unroll
      for (int t = 0; t < 2; ++t)
        s[o] += taps[t] * in[base + o + t];
    }
    #pragma unroll
    for (int o = 0; o < 3; ++o)
      out[base + o] = s[o];
  })");
  CHECK(iterations(parsed, "taps[t]") == "0,0 0,1");
  CHECK(iterations(parsed, "in[base + o + t]") == "0,0 0,1 1,1 2,1");
  CHECK(iterations(parsed, "out[base + o]") == "0 1 2");
}

TEST_CASE("a value that a store in the unrolled loop may change is loaded in each iteration",
          "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(const float* a, float* out, int i) {
    #pragma unroll
    for (int j = 0; j < 3; ++j)
      out[j] = a[i] + 1;
  })");
  CHECK(iterations(parsed, "a[i]") == "0 1 2");
}

TEST_CASE("an access that was moved out of a deleted loop is left once", "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(const float* __restrict__ a, float* __restrict__ out, int n, int i) {
    for (int j = 0; j < n; ++j)
      out[i] = a[7];
    for (int j = 0; j < 1; ++j)
      out[j] = a[j];
  })");
  CHECK(iterations(parsed, "out[i]") == "0");
  CHECK(iterations(parsed, "a[7]") == "0");
  CHECK(parsed.access_left("a[7]").iterations.loops.at(0).iterations > 1);
}

TEST_CASE("an update in an unrolled loop is left in the iterations of either half", "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(const float* a, float* out, int i) {
    #pragma unroll
    for (int j = 0; j < 3; ++j)
      out[i] += a[j];
  })");
  CHECK(iterations(parsed, "out[i]") == "0 1 2");
}

TEST_CASE("an access that unrolling finds dead in some iterations", "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(const float* __restrict__ a, float* __restrict__ out, int i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      float x = a[i + j];
      out[i + j] = j == 2 ? x : 1.0f;
    }
  })");
  CHECK(iterations(parsed, "a[i + j]") == "2");
}

TEST_CASE("a value that one iteration passes to the next is loaded once more than there are iterations",
          "[accesses_left]") {
  Parsed parsed(R"(__global__ void k(const float* __restrict__ a, float* __restrict__ out, int i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j)
      out[j] = a[i + j] + a[i + j + 1];
  })");
  CHECK(iterations(parsed, "a[i + j]") == "0");
  CHECK(iterations(parsed, "a[i + j + 1]") == "0 1 2 3");
}

TEST_CASE("an unrolled loop within one that is not", "[accesses_left]") {
  Parsed parsed(
      R"(__global__ void k(const float* __restrict__ a, const float* __restrict__ w, float* __restrict__ out, int n) {
    for (int i = 0; i < n; ++i) {
      float s = 0;
      #pragma unroll
      for (int j = 0; j < 3; ++j)
        s += a[i] * w[j] * a[i + j + 1];
      out[i] = s;
    }
  })");
  CHECK(iterations(parsed, "a[i]") == "0");
  CHECK(iterations(parsed, "a[i + j + 1]") == "0 1 2");
  CHECK(iterations(parsed, "w[j]") == "0 1 2");
  CHECK(parsed.fate("w[j]") == "hoisted");
  CHECK(parsed.access_left("w[j]").out_of.value().line == 2);
}

TEST_CASE("a loop unrolled in two inlined copies and in two instances: an access kept by one is left",
          "[accesses_left]") {
  Parsed parsed(R"(template <int n> __device__ float sum(const float* a, const float* w, int i) {
    float s = 0;
    #pragma unroll
    for (int j = 0; j < n; ++j)
      s += a[i + j] * w[j / 2];
    return s;
  }
  __global__ void k(const float* a, const float* w, float* out, int i) {
    out[0] = sum<2>(a, w, i) + sum<4>(a, w, i + 100) + a[i];
  })");
  CHECK(iterations(parsed, "a[i + j]") == "0 1 2 3");
  CHECK(iterations(parsed, "w[j / 2]") == "0 2"); // the second call has the first's
}

TEST_CASE("an unrolled loop around a call: the function's access is left in any iteration",
          "[accesses_left]") {
  Parsed parsed(R"(__device__ float at(const float* a, int i) { return a[i]; }
  __global__ void k(const float* a, float* out, int i) {
    float s = 0;
    #pragma unroll
    for (int j = 0; j < 3; ++j)
      s += at(a, i + j) * at(a, 7);
    out[0] = s;
  })");
  CHECK(parsed.fate("a[i]") == "stays");
  CHECK(iterations(parsed, "a[i]").empty());
}

TEST_CASE("unrolled loops that are left early or have branches", "[accesses_left]") {
  Parsed parsed(
      R"(__global__ void k(const float* __restrict__ a, const float* __restrict__ w, float* __restrict__ out, int n) {
    float s = 0;
    for (int j = 0; j < 4; ++j) {
      float x = a[j * n];
      if (x < 0)
        break;
      s += x * w[3];
    }
    #pragma unroll
    for (int j = 0; j < 4; ++j)
      if (j % 2)
        s += a[n + j] * w[0];
      else
        s -= a[n] * w[1];
    out[0] = s;
  })");
  CHECK(iterations(parsed, "a[j * n]") == "0 1 2 3");
  CHECK(iterations(parsed, "w[3]") == "0");
  CHECK(iterations(parsed, "a[n + j]") == "1 3");
  CHECK(iterations(parsed, "w[0]") == "1");
  CHECK(iterations(parsed, "a[n]") == "0");
  CHECK(iterations(parsed, "w[1]") == "0");
}
