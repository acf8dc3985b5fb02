#include "test/catch.h"
#include "toolchain/steps/user_text.h"

using warplens::toolchain::without_probes;

TEST_CASE("messages without a probe stay as they are") {
  const std::string plain =
      "a.cu(3): warning #63-D: shift count is too large\n    b = a[3] << 40;\n                ^\n";
  CHECK(without_probes(plain) == plain);
}

TEST_CASE("nvcc's front end quotes the user's line, with its mark below the same text") {
  CHECK(without_probes(
            "a.cu(3): warning #186-D: pointless comparison of unsigned integer with zero\n"
            "    (*::warplens::store(0x4e95cf1c2d437dcdull, &(in[0]))) = a[n+1] < 0 ? f(1) : 7; int lost;\n"
            "                                                                   ^\n\n") ==
        "a.cu(3): warning #186-D: pointless comparison of unsigned integer with zero\n"
        "    in[0] = a[n+1] < 0 ? f(1) : 7; int lost;\n"
        "                   ^\n\n");
}

TEST_CASE("a column, as Clang and gcc give it, moves with the text") {
  CHECK(without_probes("a.cu:3:63: error: no member named 'z'\n"
                       "    3 |   x = (*::warplens::load(0x4e95cf1c2d437dcdull, &(a[i + 1]))).z;\n"
                       "      |       ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ ^\n") ==
        "a.cu:3:16: error: no member named 'z'\n"
        "    3 |   x = a[i + 1].z;\n"
        "      |       ~~~~~~~~ ^\n");
}

TEST_CASE("probes within probes, around pointers and in loops, and the kernel's entry") {
  CHECK(without_probes(
            "x(1): note\n{ ::warplens::KernelScope warplens_kernel_scope; "
            "f(::warplens::load(0x0000000000000001ull, (p)), "
            "(*::warplens::load(0x0000000000000002ull, &(a[(*::warplens::load(0x0000000000000003ull, "
            "::warplens::address_of(b[')'])))]))));\n") == "x(1): note\n{ f((p), a[b[')']]);\n");
  CHECK(without_probes("{ ::warplens::First warplens_first_1; for (;;) { s += (::warplens::load_if_lvalue("
                       "warplens_first_1, 0x0000000000000001ull, (a[i]))); } } }\n") ==
        "for (;;) { s += a[i]; } }\n");
}

TEST_CASE("probes that record in some iterations only") {
  CHECK(without_probes("s += (*::warplens::load((warplens_iteration_1 == 0) && f(1), 0x0000000000000001ull, "
                       "&(a[0])));\n") == "s += a[0];\n");
}

TEST_CASE("a mark on a probe moves to the expression inside") {
  CHECK(without_probes("    x = (*::warplens::load(0x4e95cf1c2d437dcdull, &(a[i])));\n"
                       "           ^\n") == "    x = a[i];\n        ^\n");
}
