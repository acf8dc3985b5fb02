// Tests the respelling of code that nvcc accepts and Clang refuses: the same length, the same tokens.

#include "analysis/respelled_files.h"
#include "test/catch.h"

using warplens::analysis::respell;

TEST_CASE("a special register of PTX with one %") {
  CHECK(respell("asm volatile(\"mov.u32 %0, %laneid;\" : \"=r\"(x));") ==
        "asm volatile(\"mov.u32 %0,%%laneid;\" : \"=r\"(x));");
  CHECK(respell("asm(\"{ add.u32 %0, %tid.x,\\t%ntid.x;\" \" }\" : \"=r\"(x));") ==
        "asm(\"{ add.u32 %0,%%tid.x,\\t%ntid.x;\" \" }\" : \"=r\"(x));"); // no blank in front
  CHECK_FALSE(respell("asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x)); printf(\" %clock\", c);"));
  CHECK_FALSE(respell("asm(\"mov.u32 a, %laneid;\");"));
}

TEST_CASE("the brackets of a launch are closed up") {
  CHECK(respell("k<< <g, b>> >(a);") == "k<<< g, b>>> (a);");
  CHECK(respell("k<<\t<g, f<<<1>>>, 2>> >(a);") == "k<<<\tg, f<<<1>>>, 2>>> (a);");
  CHECK_FALSE(respell("k<<<g, b>>>(a); x = y << z;"));
}

TEST_CASE("alignas moves in front of __shared__ and other specifiers") {
  CHECK(respell("__shared__ alignas(16) int s[4];") == "alignas(16)__shared__  int s[4];");
  CHECK(respell("extern __shared__  alignas(f(1)) int s[];") == "alignas(f(1))extern __shared__   int s[];");
  CHECK(respell("__shared__ /* why */ alignas(8)int s;") == "alignas(8)__shared__ /* why */ int s;");
  CHECK(respell("{ __shared__ alignas(4) int a; __shared__ volatile alignas(8) int b; }") ==
        "{ alignas(4)__shared__  int a; alignas(8)__shared__ volatile  int b; }");
  CHECK_FALSE(respell("alignas(16) __shared__ int s[4]; struct alignas(8) S {};"));
}

TEST_CASE("a macro that is a pragma") {
  CHECK(respell("#define UNROLL #pragma unroll\nint i;") == "#define UNROLL __WL_P(unroll)\nint i;");
  CHECK(respell("# define UNROLL  #pragma  unroll 4 // why\n#pragma once\n") ==
        "# define UNROLL  __WL_P(unroll 4)  // why\n#pragma once\n");
  CHECK_FALSE(respell("#define TEXT \"#pragma unroll\"\n#pragma once\n#define f(x) #x\n"));
}

TEST_CASE("text in strings and comments stays") {
  CHECK_FALSE(respell("puts(\"k<< <g>> >\"); // k<< <g>> > __shared__ alignas(4) int s;"));
}

TEST_CASE("the destructor of cuda::barrier does nothing") {
  const std::string head = "struct barrier { ~barrier()\n  {",
                    body = "\n asm(\"mbarrier.inval.shared.b64\");\n";
  const auto respelt = respell(head + body + "} int x; };");
  REQUIRE(respelt);
  CHECK(respelt->size() == (head + body + "} int x; };").size());
  CHECK(respelt->starts_with(head + "\n     "));
  CHECK(respelt->ends_with("  \n} int x; };"));
  CHECK_FALSE(respell("struct barrier { ~barrier() { f(); } }; // mbarrier.inval."));
}

TEST_CASE("libcu++'s deduction guide without targets gets them") {
  const std::string
      before =
          "template <class _Err>\nunexpected(_Err) -> unexpected<_Err>;\n#endif // !defined(GUIDES)\nint x;",
      after =
          "template <class _Err>\n_CCCL_HOST_DEVICE unexpected(_Err) -> unexpected<_Err>;\n#endif  \nint x;";
  CHECK(respell(before) == after);
  CHECK(before.size() == after.size());
  CHECK_FALSE(respell("unexpected(_Err) -> unexpected<_Err>;\n#endif"));
}
