// Which accesses threads wait by.
#include "test/analysis/parsed.h"
#include "test/catch.h"

using warplens::test::Parsed;

namespace {

/// Returns whether threads wait by the access to `place` in a kernel with this body.
bool waits(const std::string& body, const std::string& place = "flag") {
  Parsed parsed("__global__ void k(int* flag, volatile int* seen, int* counter, int* out, int n) {\n" + body +
                "\n}");
  return parsed.access_left(place).waits;
}

} // namespace

TEST_CASE("loops that read one word until another thread has changed it", "[waits]") {
  CHECK(waits("while (atomicAdd(flag, 0) == 0) {} out[0] = 1;"));
  CHECK(waits("while (__nvvm_atom_cas_gen_i(flag, 0, 0) == 0) {} out[0] = 1;"));
  CHECK(waits("while (seen[3] < n) {} out[0] = 1;", "seen[3]"));
  CHECK(waits("while (seen[3] < n) __nvvm_nanosleep(n); out[0] = 1;", "seen[3]"));
  CHECK(waits("int known; do known = __nvvm_atom_or_gen_i(flag + n, 0); while ((known & 1) == 0); out[0] = "
              "known;",
              "flag + n"));
  CHECK(
      waits("for (int at = n; at >= 0; --at) { int one; do one = atomicAdd(flag + at, 0); while (one == 0); "
            "out[0] += one; if (one == 2) break; }",
            "flag + at"));
}

TEST_CASE("loops that end by themselves do not wait", "[waits]") {
  CHECK_FALSE(waits("for (int i = 0; i < n; ++i) out[i] = atomicAdd(flag, 0);"));
  CHECK_FALSE(waits("for (int i = 0; i < n; ++i) out[i] = seen[0];", "seen[0]"));
  CHECK_FALSE(waits("for (int i = 0; i < seen[0]; ++i) out[i] = 1;", "seen[0]"));
  CHECK_FALSE(waits("for (int i = 0; i < 1000000; ++i) if (seen[0] != 0) break; out[0] = 1;", "seen[0]"));
  CHECK_FALSE(waits("for (int i; (i = atomicAdd(counter, 1)) < n;) out[i] = 1;", "counter"));
  CHECK_FALSE(waits("for (int i; (i = atomicAdd(counter, 1)) < seen[0];) out[i] = 1;", "seen[0]"));
  CHECK_FALSE(waits("if (atomicAdd(flag, 0) == 0) out[0] = 1;"));
  CHECK_FALSE(waits("for (int at = n; at >= 0;) at = seen[at];", "seen[at]"));
}

TEST_CASE("nor do retries, locks, and loops that reset the flag themselves", "[waits]") {
  CHECK_FALSE(waits("int old = *out, was; do { was = old; old = __nvvm_atom_cas_gen_i(flag, was, was + n); } "
                    "while (old != was);"));
  CHECK_FALSE(
      waits("int old; do old = seen[0]; while (__nvvm_atom_cas_gen_i((int*)seen, old, old + n) != old);",
            "seen[0]"));
  CHECK_FALSE(waits("while (__nvvm_atom_cas_gen_i(flag, 0, 1) != 0) {} out[0] = 1;"));
  CHECK_FALSE(waits("for (int i; (i = __nvvm_atom_xchg_gen_i(flag, 0)) != 0;) out[i] = 1;"));
  CHECK_FALSE(waits("do { seen[0] = 0; __nvvm_bar_sync(0); out[n] = 1; if (out[0] < n) seen[0] = 1; "
                    "__nvvm_bar_sync(0); } while (seen[0]);",
                    "seen[0]"));
}
