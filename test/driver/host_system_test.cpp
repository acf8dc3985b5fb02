// Recognises systems by folders that look like theirs.
#include "driver/stages/host_system.h"
#include "support/files.h"
#include "support/temporary.h"
#include "test/catch.h"

using namespace warplens;
using namespace warplens::driver;

namespace {

/// A folder with the files of a system.
class Root {
public:
  Root& with(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((path() / name).parent_path());
    REQUIRE(write_file(path() / name, text).has_value());
    return *this;
  }
  const std::filesystem::path& path() const { return folder_->path(); }

private:
  Expected<TemporaryDirectory> folder_ = TemporaryDirectory::create();
};

constexpr const char *debian =
                         "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org) (gcc-12) #1 SMP\n",
                     *wsl_2 = "Linux version 5.15.153.1-microsoft-standard-WSL2 (root@build) (gcc) #1 SMP\n",
                     *wsl_1 = "Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com) (gcc) #1\n";

} // namespace

TEST_CASE("a plain Linux is what its kernel says") {
  Root root;
  root.with("proc/version", debian).with("proc/1/environ", std::string("HOME=/\0TERM=linux\0", 19));
  const Diagnosis found = host_system(root.path(), false);
  CHECK(found.condition == Condition::works);
  CHECK(found.found == "Linux 6.1.0-18-amd64");
  CHECK(host_system(Root().path(), false).found == "Linux of unknown version");
}

TEST_CASE("WSL 2 with and without the driver of Windows, and on Windows' disk") {
  Root root;
  root.with("proc/version", wsl_2);
  CHECK(host_system(root.path(), false).found ==
        "WSL 2: Linux 5.15.153.1-microsoft-standard-WSL2, without NVIDIA's driver on Windows, which is not "
        "needed");
  root.with("usr/lib/wsl/lib/libcuda.so.1", "");
  const Diagnosis found = host_system(root.path(), false);
  CHECK(found.condition == Condition::works);
  CHECK(found.found.ends_with("with the driver of Windows"));
  const Diagnosis slow = host_system(root.path(), true);
  CHECK(slow.condition == Condition::limited);
  CHECK_FALSE(slow.remedy.empty());
}

TEST_CASE("WSL 1 is said to be one") {
  Root root;
  root.with("proc/version", wsl_1);
  const Diagnosis found = host_system(root.path(), false);
  CHECK(found.condition == Condition::limited);
  CHECK(found.found == "WSL 1: Linux 4.4.0-19041-Microsoft");
}

TEST_CASE("containers and what their control groups may use") {
  Root docker;
  docker.with("proc/version", debian).with(".dockerenv", "");
  CHECK(host_system(docker.path(), false).found == "Linux 6.1.0-18-amd64 in Docker");
  docker.with("sys/fs/cgroup/cpu.max", "150000 100000\n").with("sys/fs/cgroup/memory.max", "4000000000\n");
  CHECK(host_system(docker.path(), false).found == "Linux 6.1.0-18-amd64 in Docker, 1.5 CPUs, 4.0 GB");
  docker.with("sys/fs/cgroup/cpu.max", "max 100000\n").with("sys/fs/cgroup/memory.max", "max\n");
  CHECK(host_system(docker.path(), false).found == "Linux 6.1.0-18-amd64 in Docker");
  Root podman;
  podman.with("proc/version", debian).with("run/.containerenv", "");
  CHECK(host_system(podman.path(), false).found == "Linux 6.1.0-18-amd64 in Podman");
  Root nspawn;
  nspawn.with("proc/version", debian)
      .with("proc/1/environ", std::string("HOME=/\0container=systemd-nspawn\0", 33));
  CHECK(host_system(nspawn.path(), false).found == "Linux 6.1.0-18-amd64 in systemd-nspawn");
}
