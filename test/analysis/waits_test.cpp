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
  CHECK(waits("while (__nvvm_atom_cas_gen_i(flag, 0, 1) != 0) {} out[0] = 1;"));
  CHECK(waits("while (__nvvm_atom_xchg_gen_i(flag, 1) != 0) {} out[0] = 1;"));
  CHECK(waits("while (seen[3] < n) {} out[0] = 1;", "seen[3]"));
  CHECK(waits(
      "int known; do known = __nvvm_atom_or_gen_i(flag + n, 0); while ((known & 1) == 0); out[0] = known;",
      "flag + n"));
}

TEST_CASE("loops that end by themselves, or whose iterations change what they read, do not wait", "[waits]") {
  CHECK_FALSE(waits("for (int i = 0; i < n; ++i) out[i] = atomicAdd(flag, 0);"));
  CHECK_FALSE(waits("for (int i = 0; i < n; ++i) out[i] = seen[0];", "seen[0]"));
  CHECK_FALSE(waits("for (int i; (i = atomicAdd(counter, 1)) < n;) out[i] = 1;", "counter"));
  CHECK_FALSE(waits(
      "int old = *out, was; do { was = old; old = __nvvm_atom_cas_gen_i(flag, was, was + n); } while (old "
      "!= was);"));
  CHECK_FALSE(waits("if (atomicAdd(flag, 0) == 0) out[0] = 1;"));
  CHECK_FALSE(waits("for (int at = n; at >= 0;) at = seen[at];", "seen[at]"));
}
