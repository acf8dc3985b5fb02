#include "test/analysis/parsed.h"
#include "test/catch.h"

using warplens::test::Parsed;
using Texts = std::vector<std::string>;

TEST_CASE("SpMV in CSR: the paper's example", "[sequences]") {
  Parsed parsed(
      R"(__global__ void spmv(const int* rowIndices, const int* indices, const float* val, const float* y, float* x,
                       int i) {
    float t = 0;
    int lb = rowIndices[i];
    int ub = rowIndices[i + 1];
    for (int j = lb; j < ub; ++j) {
      int ind = indices[j];
      t += val[j] * y[ind];
    }
    x[i] = t;
  })");
  CHECK(parsed.sequence("rowIndices[i]") == 0);
  CHECK(parsed.sequence("rowIndices[i + 1]") == 0);
  CHECK(parsed.sequence("indices[j]") == 1);
  CHECK(parsed.sequence("val[j]") == 1);
  CHECK(parsed.sequence("y[ind]") == 2);
  CHECK(parsed.sequence("x[i]") == 3);
  // The loop's condition needs rowIndices[i + 1].
  CHECK(parsed.depends_on("indices[j]") == Texts{"rowIndices[i]", "rowIndices[i + 1]"});
  CHECK(parsed.depends_on("val[j]") == Texts{"rowIndices[i]", "rowIndices[i + 1]"});
  CHECK(parsed.depends_on("y[ind]") == Texts{"rowIndices[i]", "rowIndices[i + 1]", "indices[j]"});
  CHECK(parsed.depends_on("x[i]").empty());
  CHECK(parsed.stores("x[i]") == Texts{"val[j]", "y[ind]"});
}

TEST_CASE("barriers, loops and labels end a sequence, atomics do not", "[sequences]") {
  Parsed parsed(R"(__global__ void k(int* a, int n) {
    __shared__ int tile[32];
    tile[0] = a[0];
    __syncthreads();
    a[1] = tile[1];
    atomicAdd(a + 2, 1);
    a[3] = 1;
    __syncwarp(0xffffffff);
    a[4] = 1;
    while (a[5] > n) { a[6] = 1; }
    a[7] = 1;
    do { a[8] = 1; } while (a[9] > n);
    a[10] = 1;
    __nvvm_membar_gl();
    a[11] = 1;
    asm volatile("bar.sync 1;");
    a[12] = 1;
  again:
    a[13] += 1;
    if (a[13] < n) goto again;
  })");
  CHECK(parsed.sequence("a[0]") == 0);
  CHECK(parsed.sequence("tile[0]") == 0);
  CHECK(parsed.sequence("tile[1]") == 1);
  CHECK(parsed.sequence("a[1]") == 1);
  CHECK(parsed.sequence("a + 2") == 1);
  CHECK(parsed.sequence("a[3]") == 1);
  CHECK(parsed.sequence("a[4]") == 2);
  CHECK(parsed.sequence("a[5]") == 3);
  CHECK(parsed.sequence("a[6]") == 4); // the loop's condition needs a[5]
  CHECK(parsed.sequence("a[7]") == 5);
  CHECK(parsed.sequence("a[8]") == 6);
  CHECK(parsed.sequence("a[9]") == 6);
  CHECK(parsed.sequence("a[10]") == 7);
  CHECK(parsed.sequence("a[11]") == 8);
  CHECK(parsed.sequence("a[12]") == 9);
  CHECK(parsed.sequence("a[13]", 0) == 10);
  CHECK(parsed.sequence("a[13]", 1) == 10);
}

TEST_CASE("an address that needs a value loaded in this sequence starts another", "[sequences]") {
  Parsed parsed(R"(__global__ void k(const int* a, float* b, int i) {
    int j = a[i] * 2;
    long l = (long)j + 1;
    b[i] = 0;
    b[l] = b[a[i + 1]];
    int m = 3;
    m += a[2];
    b[m] = 1;
    j = 5;
    b[j] = 2;
    b[i > 2 ? a[3] : 7] = 3;
  })");
  CHECK(parsed.sequence("a[i]") == 0);
  CHECK(parsed.sequence("b[i]") == 0);
  CHECK(parsed.sequence("a[i + 1]") == 0);
  CHECK(parsed.sequence("b[a[i + 1]]") == 1);
  CHECK(parsed.sequence("b[l]") == 1); // a[i] was loaded in sequence 0
  CHECK(parsed.depends_on("b[l]") == Texts{"a[i]"});
  CHECK(parsed.depends_on("b[a[i + 1]]") == Texts{"a[i + 1]"});
  CHECK(parsed.sequence("a[2]") == 1);
  CHECK(parsed.sequence("b[m]") == 2);
  CHECK(parsed.depends_on("b[m]") == Texts{"a[2]"});
  CHECK(parsed.depends_on("b[j]").empty()); // j was overwritten
  CHECK(parsed.depends_on("b[i > 2 ? a[3] : 7]") == Texts{"a[3]"});
}

TEST_CASE("the right side of an assignment is evaluated first", "[sequences]") {
  Parsed parsed(R"(__global__ void k(int* a, int* b, int i) { a[b[i]] = a[b[i + 1]]; })");
  CHECK(parsed.sequence("b[i + 1]") == 0);
  CHECK(parsed.sequence("a[b[i + 1]]") == 1);
  CHECK(parsed.sequence("b[i]") == 1);
  CHECK(parsed.sequence("a[b[i]]") == 2);
}

TEST_CASE("dependences go around loops, through objects, references and calls of builtins", "[sequences]") {
  Parsed parsed(R"(struct Range { int first, last; };
  __device__ int twice(int i) { return 2 * i; }
  __global__ void k(const int* next, const Range* ranges, float* b, const int* idx, int* counter, int n) {
    int at = 0;
    for (int i = 0; i < n; ++i)
      at = next[at];
    Range range = ranges[n];
    b[range.first] = 1;
    const int& r = idx[b[0] > 0 ? 1 : 0];
    b[twice(__ldgi(idx + 3))] = r;
    int slot = atomicAdd(counter, 1);
    b[slot] = 2;
    int local[4];
    local[1] = idx[8];
    b[local[n]] = 4;
    *(b + idx[9]) = 5;
  })");
  CHECK(parsed.depends_on("next[at]") == Texts{"next[at]"});
  CHECK(parsed.depends_on("b[range.first]") == Texts{"ranges[n]", "range.first"});
  CHECK(parsed.depends_on("r") == Texts{"b[0]"});
  CHECK(parsed.depends_on("b[twice(__ldgi(idx + 3))]") == Texts{"idx + 3"});
  CHECK(parsed.depends_on("b[slot]") == Texts{"counter"});
  CHECK(parsed.depends_on("b[local[n]]") == Texts{"idx[8]", "local[n]"});
  CHECK(parsed.sequence("local[n]") == parsed.sequence("b[local[n]]") - 1); // for idx[8], not for local[n]
  CHECK(parsed.depends_on("*(b + idx[9])") == Texts{"idx[9]"});
}

TEST_CASE("calls of functions with accesses or barriers end the caller's sequence", "[sequences]") {
  Parsed parsed(R"(
  __device__ int plain(int i) { return i + 1; }
  __device__ int reads(const int* p) { return p[0] + p[1]; }
  __device__ int deep(const int* p) { return reads(p); }
  __device__ void wait() { __syncthreads(); }
  __global__ void k(int* a, int n) {
    a[0] = 1;
    a[1] = plain(n);
    a[2] = reads(a);
    a[3] = 1;
    deep(a);
    a[4] = 1;
    wait();
    a[5] = 1;
  })");
  CHECK(parsed.sequence("p[0]") == 0);
  CHECK(parsed.sequence("p[1]") == 0);
  CHECK(parsed.sequence("a[0]") == 0);
  CHECK(parsed.sequence("a[1]") == 0);
  CHECK(parsed.sequence("a[2]") == 1);
  CHECK(parsed.sequence("a[3]") == 1);
  CHECK(parsed.sequence("a[4]") == 2);
  CHECK(parsed.sequence("a[5]") == 3);
}

TEST_CASE("stores and atomics need the values that they store, which end no sequence", "[sequences]") {
  Parsed parsed(R"(struct Pair { int first, second; };
  __global__ void k(int* o, const int* c, int* sum, const Pair* from, Pair* to, int i) {
    o[i] = c[i];
    o[i + 1] = 2 * c[i + 1] + 1;
    int v = c[i + 2];
    v += c[i + 3];
    atomicAdd(sum, v);
    o[i + 4] = atomicAdd(sum + 1, 1);
    o[i + 5] += c[i + 5];
    to[i] = from[i];
    o[i + 6] = 1;
  })");
  CHECK(parsed.stores("o[i]") == Texts{"c[i]"});
  CHECK(parsed.depends_on("o[i]").empty());
  CHECK(parsed.stores("o[i + 1]") == Texts{"c[i + 1]"});
  CHECK(parsed.stores("sum") == Texts{"c[i + 2]", "c[i + 3]"});
  CHECK(parsed.stores("sum + 1").empty());
  CHECK(parsed.stores("o[i + 4]") == Texts{"sum + 1"});
  CHECK(parsed.stores("o[i + 5]") == Texts{"c[i + 5]"});
  CHECK(parsed.stores("to[i]") == Texts{"from[i]"});
  CHECK(parsed.stores("o[i + 6]").empty());
  CHECK(parsed.sequence("o[i + 6]") == 0);
}

TEST_CASE("accesses need the conditions that decide whether they are executed", "[sequences]") {
  Parsed parsed(R"(__global__ void k(int* o, const int* c, const int* d, int* sum, int i) {
    if (c[0] > 0)
      o[0] = 1;
    else
      o[1] = d[1];
    o[2] = d[2];
    if (c[1] > 0 && c[2] > 0)
      o[3] = 1;
    o[4] = c[3] > 0 ? d[3] : 0;
    if (atomicAdd(sum, 1) == i)
      return;
    o[5] = 1;
    while (c[4] < d[i])
      ++i;
    for (int j = 0; j < c[5]; ++j)
      o[6] = j;
  })");
  CHECK(parsed.depends_on("c[0]").empty());
  CHECK(parsed.depends_on("o[0]") == Texts{"c[0]"});
  CHECK(parsed.depends_on("d[1]") == Texts{"c[0]"});
  CHECK(parsed.depends_on("o[1]") == Texts{"c[0]"});
  CHECK(parsed.stores("o[1]") == Texts{"d[1]"});
  CHECK(parsed.depends_on("d[2]").empty());
  CHECK(parsed.depends_on("c[2]") == Texts{"c[1]"});
  CHECK(parsed.depends_on("o[3]") == Texts{"c[1]", "c[2]"});
  CHECK(parsed.depends_on("d[3]") == Texts{"c[3]"});
  CHECK(parsed.stores("o[4]") == Texts{"c[3]", "d[3]"});
  CHECK(parsed.depends_on("o[5]") == Texts{"sum"});
  CHECK(parsed.depends_on("d[i]") == Texts{"sum", "c[4]", "d[i]"}); // of the iteration before
  CHECK(parsed.depends_on("o[6]") == Texts{"sum", "c[5]"});
  CHECK(parsed.sequence("c[0]") == 0);
  CHECK(parsed.sequence("o[0]") == 1); // it waits for c[0]
  CHECK(parsed.sequence("d[2]") == 1);
}

TEST_CASE("a loop that is unrolled fully begins and ends no sequence, unless something in it does",
          "[sequences]") {
  Parsed parsed(R"(__global__ void k(const float* a, const float* b, const float* c, float* o, int n) {
    float s = a[0];
    for (int i = 0; i < 4; ++i)
      s += b[i * n];
    s += c[0];
    for (int i = 0; i < n; ++i)
      s += c[i * n + 1];
    for (int i = 0; i < 4; ++i) {
      __syncthreads();
      s += b[i * n + 2];
    }
    o[0] = s;
  })");
  CHECK(parsed.sequence("a[0]") == 0);
  CHECK(parsed.sequence("b[i * n]") == 1);
  CHECK(parsed.sequence("c[0]") == 2);
  CHECK(parsed.sequence_in_code("a[0]") == 0);
  CHECK(parsed.sequence_in_code("b[i * n]") == 0);
  CHECK(parsed.sequence_in_code("c[0]") == 0);
  CHECK(parsed.sequence_in_code("c[i * n + 1]") == 1);
  CHECK(parsed.sequence_in_code("b[i * n + 2]") == 2);
  CHECK(parsed.sequence_in_code("o[0]") == 3);
}
