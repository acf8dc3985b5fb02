// Runs of stages are found again if, and only if, nothing that they depend on has changed.
#include "support/files.h"
#include "support/temporary.h"
#include "test/catch.h"
#include "toolchain/cache/stage_cache.h"

#include <chrono>
#include <cstdlib>

using namespace warplens;
using toolchain::StageCache;
using toolchain::StageRun;
namespace fs = std::filesystem;

namespace {

/// A user's folder with a source, two folders of headers, and a cache of its own.
struct Project {
  TemporaryDirectory temporary = std::move(*TemporaryDirectory::create());
  fs::path root = temporary.path(), source = root / "a.cu", header = root / "late/h.h";

  Project() {
    setenv("WARPLENS_CACHE", (root / "cache").c_str(), 1);
    for (const char* name : {"early", "late", "first", "second"})
      fs::create_directories(root / name);
    write(source, "source");
    write(header, "header");
  }
  ~Project() { unsetenv("WARPLENS_CACHE"); }

  static void write(const fs::path& file, std::string_view text) { REQUIRE(write_file(file, text)); }

  StageRun run(const char* folder, const char* option = "-O2") const {
    return {root / folder,
            {"stage", option, (root / folder / "in").string()},
            {},
            {root, root / "early", root / "late"},
            true,
            fs::file_time_type::clock::now() + std::chrono::hours(1)}; // after all that the test writes
  }
  /// Keeps a run in the folder `first` whose output names that folder.
  void keep_first() const {
    const auto output = root / "first/sub/out";
    fs::create_directories(output.parent_path());
    write(output, "made in " + (root / "first").string());
    StageCache().keep(run("first"), {source, header}, {output});
  }
  bool is_restored(const char* option = "-O2") const {
    return !StageCache().restore(run("second", option)).empty();
  }
};

} // namespace

TEST_CASE("A run's outputs are those of an earlier one that read the same, in its own folder") {
  const Project project;
  CHECK_FALSE(project.is_restored());
  project.keep_first();
  REQUIRE(StageCache().restore(project.run("second")) == std::vector{project.root / "second/sub/out"});
  CHECK(read_file(project.root / "second/sub/out").value() ==
        "made in " + (project.root / "second").string());
  CHECK_FALSE(project.is_restored("-O3"));
}

TEST_CASE("A file that changes makes another run, until it is as it was") {
  const Project project;
  project.keep_first();
  Project::write(project.header, "changed");
  CHECK_FALSE(project.is_restored());
  project.keep_first();
  CHECK(project.is_restored());
  Project::write(project.header, "header");
  CHECK(project.is_restored()); // both are kept
  fs::remove(project.header);
  CHECK_FALSE(project.is_restored());
}

TEST_CASE("A file of long ago that changes makes another run, too, though a process reads each only once") {
  const Project project;
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(project.header, long_ago);
  project.keep_first();
  CHECK(project.is_restored());
  Project::write(project.header, "HEADER"); // as many bytes, but now
  CHECK_FALSE(project.is_restored());
}

TEST_CASE("A header that appears where it is searched earlier makes another run") {
  const Project project;
  project.keep_first();
  Project::write(project.root / "early/h.h", "header");
  CHECK_FALSE(project.is_restored());
}

TEST_CASE("A file that changes while the compilers run is not kept as what they read") {
  const Project project;
  auto run = project.run("first");
  run.begun = fs::file_time_type::clock::now() - std::chrono::minutes(1);
  Project::write(project.root / "first/out", "made");
  StageCache().keep(run, {project.source, project.header}, {project.root / "first/out"});
  CHECK_FALSE(project.is_restored());
}

TEST_CASE("A header that appears beside the one that includes it makes another run") {
  const Project project;
  const auto other = project.root / "deep/other.h";
  fs::create_directories(other.parent_path());
  Project::write(other, "#include \"h.h\"");
  Project::write(project.root / "first/out", "made");
  StageCache().keep(project.run("first"), {project.source, other, project.header},
                    {project.root / "first/out"});
  CHECK(project.is_restored());
  Project::write(project.root / "deep/h.h", "header");
  CHECK_FALSE(project.is_restored());
}

TEST_CASE("A compiler that changes makes another run") {
  const Project project;
  const auto compiler = project.root / "compiler";
  Project::write(compiler, "one");
  auto run = project.run("first");
  run.programs = {compiler};
  Project::write(project.root / "first/out", "made");
  StageCache().keep(run, {project.source}, {project.root / "first/out"});
  CHECK_FALSE(StageCache().restore(run).empty());
  Project::write(compiler, "another");
  CHECK(StageCache().restore(run).empty());
}

TEST_CASE("What depends on the time of day is not kept, nor what nothing is known of, nor anything without a "
          "cache") {
  const Project project;
  for (const char* text : {"int built = __TIME__[0];", "asm(\".incbin \\\"table\\\"\");"}) {
    Project::write(project.header, text);
    project.keep_first();
    CHECK_FALSE(project.is_restored());
  }
  StageCache().keep(project.run("first"), {}, {project.root / "first/sub/out"});
  CHECK_FALSE(project.is_restored());
  Project::write(project.header, "header");
  setenv("WARPLENS_CACHE", "off", 1);
  project.keep_first();
  CHECK_FALSE(project.is_restored());
}

TEST_CASE("A rule for make is read as compilers write it") {
  const Project project;
  const auto file = project.root / "rule.d";
  const auto names = [&](std::string_view text) {
    Project::write(file, text);
    const toolchain::MakeRule rule = toolchain::read_rule(file);
    std::string all;
    for (const fs::path& target : rule.targets)
      all += target.string() + "|";
    all += "<";
    for (const fs::path& read : rule.prerequisites)
      all += "|" + read.string();
    return all;
  };
  CHECK(names("a.o: a.cu \\\n  b\\ c.h /usr/d.h\n") == "a.o|<|a.cu|b c.h|/usr/d.h");
  CHECK(names("a.ptx : a.cu \\\n    b$$.h\n") == "a.ptx|<|a.cu|b$.h");
  CHECK(names("x y:\n").starts_with("x|y|<"));
  CHECK(names("") == "<");
  CHECK(toolchain::read_rule(project.root / "none").prerequisites.empty());
}

TEST_CASE("Headers are searched beside the source, then in the folders of the arguments") {
  const std::vector<std::string> arguments{"-Ione", "-DX", "-isystem", "two", "-iquote", "three"};
  CHECK(toolchain::searched_folders("/src/a.cu", arguments) ==
        std::vector<fs::path>{"/src", "three", "one", "two"});
}
