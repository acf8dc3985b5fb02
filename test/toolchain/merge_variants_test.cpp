// Tests PTX that holds each kernel without and with probes.
#include "test/catch.h"
#include "toolchain/ptx/merge_variants.h"

using namespace warplens::toolchain;

namespace {

const std::string head = ".version 9.0\n.target sm_80\n.address_size 64\n";

std::string kernel(const std::string& name, const std::string& body, const std::string& directives = "") {
  return ".visible .entry " + name + "(\n\t.param .u64 " + name + "_param_0\n)\n" + directives + "{\n" +
         body + "}\n";
}

std::string joined(const std::string& plain, const std::string& probed) {
  const auto both = merge_variants(head + plain, head + probed);
  if (!both)
    FAIL(both.error().message);
  REQUIRE(both->starts_with(head + plain)); // the user's code stays as it is
  return both->substr((head + plain).size());
}

} // namespace

TEST_CASE("Functions get a second variant, variables are shared") {
  const std::string shared = ".global .align 4 .u32 counter;\n";
  const std::string helper = ".func helper()\n{\n\tret;\n}\n";
  const std::string call = "\tmov.u64 %rd1, counter;\n\tcall.uni helper, ();\n\tret;\n";
  const auto added = joined(shared + helper + kernel("k", call),
                            shared + ".global .u32 channel;\n" + helper + ".func probe()\n{\n\tret;\n}\n" +
                                kernel("k", "\tcall.uni probe, ();\n" + call));
  CHECK(added.find("counter;\n\n") == std::string::npos); // not declared again
  CHECK(added.find(".global .u32 channel;") != std::string::npos);
  CHECK(added.find(".func helper__warplens_probed()") != std::string::npos);
  CHECK(added.find("call.uni helper__warplens_probed, ();") != std::string::npos);
  CHECK(added.find(".func probe()") != std::string::npos); // there is only one
  CHECK(added.find(".visible .entry k__warplens_probed(") != std::string::npos);
  CHECK(added.find("mov.u64 %rd1, counter;") != std::string::npos);
}

TEST_CASE("Constants that the compiler numbers do not mix") {
  const auto text = [](const char* bytes) {
    return std::string(".global .align 1 .b8 $str[2] = {") + bytes + "};\n";
  };
  const std::string use = kernel("k", "\tmov.u64 %rd1, $str;\n");
  CHECK(joined(text("1, 2") + use, text("1, 2") + use).find("mov.u64 %rd1, $str;") != std::string::npos);
  const auto other = joined(text("1, 2") + use, text("3, 4") + use);
  CHECK(other.find("$str__warplens_probed[2] = {3, 4}") != std::string::npos);
  CHECK(other.find("mov.u64 %rd1, $str__warplens_probed;") != std::string::npos);
}

TEST_CASE("The variant with probes can be launched with every block size that the user's own can") {
  CHECK(joined(kernel("k", "\tret;\n"), kernel("k", "\tret;\n")).find(".maxntid 1024, 1, 1\n{") !=
        std::string::npos);
  const std::string bounds = ".maxntid 128, 1, 1\n.minnctapersm 8\n";
  const auto bounded = joined(kernel("k", "\tret;\n", bounds), kernel("k", "\tret;\n", bounds));
  CHECK(bounded.find(".maxntid 128, 1, 1\n") != std::string::npos);
  CHECK(bounded.find("1024") == std::string::npos);
  CHECK(bounded.find("minnctapersm") == std::string::npos);
}

TEST_CASE("Positions in the source are the user's own variant's alone") {
  const std::string positions = "\t.file\t1 \"/a.cu\"\n";
  const auto added = joined(kernel("k", "\t.loc 1 2 3\n\tret;\n") + positions,
                            kernel("k", "\t.loc 1 2 3\n\tret;\n") + positions);
  CHECK(added.find(".loc") == std::string::npos);
  CHECK(added.find(".file") == std::string::npos);
}

TEST_CASE("A function of another file is called in its variant with probes, if the linker finds one") {
  const std::string elsewhere =
      ".extern .func  (.param .b32 func_retval0) other\n(\n\t.param .b64 other_param_0,\n"
      "\t.param .align 4 .b8 other_param_1[8]\n)\n;\n";
  const std::string call = "\tcall.uni (r), other, (p, q);\n\tcall.uni (r), vprintf, (p, q);\n";
  const std::string printing =
      ".extern .func  (.param .b32 func_retval0) vprintf\n(\n\t.param .b64 a,\n\t.param .b64 b\n)\n;\n";
  const auto added =
      joined(elsewhere + printing + kernel("k", call), elsewhere + printing + kernel("k", call));
  CHECK(added.find(".weak .func  (.param .b32 func_retval0) other__warplens_probed\n(") != std::string::npos);
  CHECK(added.find("ld.param.b64 %b64, [other_param_0+0];") != std::string::npos);
  CHECK(added.find("st.param.b8 [forwarded1+7], %b16;") != std::string::npos);
  CHECK(added.find("call.uni (returned), other, (forwarded0, forwarded1);") != std::string::npos);
  CHECK(added.find("st.param.b32 [func_retval0+0], %b32;") != std::string::npos);
  CHECK(added.find("call.uni (r), other__warplens_probed, (p, q);") != std::string::npos);
  CHECK(added.find("call.uni (r), vprintf, (p, q);") != std::string::npos);
}

TEST_CASE("Variants that do not belong together are not merged") {
  CHECK(merge_variants(head, head + kernel("k", "\tret;\n")).error().message ==
        "the kernel k exists with probes only");
  CHECK_FALSE(merge_variants(head + ".global .u32 a;\n", head + ".global .u64 a;\n"));
  CHECK_FALSE(merge_variants(head, ".version 8.0\n.target sm_80\n.address_size 64\n"));
}

TEST_CASE("the variant with probes may stand alone if it has every kernel of the plain one") {
  const std::string one = head + kernel("one", "ret;\n"), both = one + kernel("two", "ret;\n");
  CHECK(check_same_kernels(one, both));
  CHECK(check_same_kernels(both, both));
  const auto missing = check_same_kernels(both, one);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message == "the kernel two exists without probes only");
}
