#include "runtime/host/failed_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace warplens::runtime {

void report_failed_kernel(const std::string& kernel, const std::string& why) {
  const char* const file = std::getenv("WARPLENS_FAILED_KERNELS");
  if (!file || !*file)
    return;
  std::string line = "kernel " + kernel + " failed: " + why;
  std::ranges::replace(line, '\n', ' ');
  line += '\n';
  const int descriptor = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return;
  // The line is one write, so that those of several processes do not mix. A failure here is ignored: the
  // error is already on stderr.
  [[maybe_unused]] const ssize_t written = write(descriptor, line.data(), line.size());
  close(descriptor);
}

} // namespace warplens::runtime
