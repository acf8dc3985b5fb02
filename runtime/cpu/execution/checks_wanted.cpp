#include "runtime/cpu/execution/checks_wanted.h"

#include <cstdlib>

namespace warplens::cpu {

Checks checks_wanted() {
  static const Checks wanted = [] {
    Checks checks;
    for (const CheckName& check : check_names)
      if (const char* const value = std::getenv(check.variable); value && *value)
        checks.add(check.check);
    return checks;
  }();
  return wanted;
}

} // namespace warplens::cpu
