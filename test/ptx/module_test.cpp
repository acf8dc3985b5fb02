// Tests modules as lists of items, and the edits of items.
#include "ptx/module.h"
#include "test/catch.h"

#include <algorithm>

using namespace warplens::ptx;

namespace {

const std::string head = ".version 9.0\n.target sm_80\n.address_size 64\n";

} // namespace

TEST_CASE("A module's items are separated, with their names") {
  const auto items = items_of(head + R"(
// a comment; with { all sorts
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0
)
;
.global .attribute(.managed) .align 4 .u32 managed;
.visible .const .align 8 .b8 table[2] = {1, 2};
.extern .shared .align 16 .b8 dynamic[];
.func helper(.param .b64 p) { { ret; } }
.weak .func (.param .b32 r) value() { ret; }
.visible .entry _Z1kPi(
	.param .u64 _Z1kPi_param_0
)
.maxntid 128, 1, 1
{
	@%p1 bra $L__BB0_2;
	ret;
}
	.file	1 "/a;b{.cu"
	.section	.debug_str
	{
.b8 1,2
	}
)");
  REQUIRE(items);
  std::vector<std::string> names;
  for (const Item& item : *items)
    if (!item.name.empty())
      names.push_back(item.name);
  CHECK(names ==
        std::vector<std::string>{"vprintf", "managed", "table", "dynamic", "helper", "value", "_Z1kPi"});
  CHECK(std::ranges::count(*items, ItemKind::header, &Item::kind) == 3);
  CHECK(std::ranges::count(*items, ItemKind::variable, &Item::kind) == 3);
  CHECK(std::ranges::count(*items, ItemKind::declaration, &Item::kind) == 1);
  CHECK(std::ranges::count(*items, ItemKind::function, &Item::kind) == 2);
  CHECK(std::ranges::count(*items, ItemKind::kernel, &Item::kind) == 1);
  CHECK(std::ranges::count(*items, ItemKind::debug, &Item::kind) == 2);
}

TEST_CASE("Text that does not end is refused") {
  CHECK_FALSE(items_of(head + ".visible .entry k() { ret;"));
}

TEST_CASE("Linkage makes an item external") {
  for (const auto* text : {".visible .entry k() { ret; }", "/* a */ .extern .shared .b8 s[];",
                           ".weak .func f() { }", ".common .global .u32 c;"})
    CHECK(is_external({ItemKind::other, {}, text}));
  for (const auto* text : {".func f() { .visible }", ".global .u32 visible;", ""})
    CHECK_FALSE(is_external({ItemKind::other, {}, text}));
}

TEST_CASE("Whole words get a suffix, outside comments and strings") {
  CHECK(with_suffix("call.uni f, (f1); // f\n\t.pragma \"f\"; mov.u64 %f, f; f", {"f"}, "_2") ==
        "call.uni f_2, (f1); // f\n\t.pragma \"f\"; mov.u64 %f, f_2; f_2");
}

TEST_CASE("Positions in the source are left out line by line") {
  CHECK(without_positions("{\n\t.loc\t1 2 3\n\tret;\n\t.loc 1 3 4, function_name $f\n}") == "{\n\tret;\n}");
  CHECK(without_positions("") == "");
}
