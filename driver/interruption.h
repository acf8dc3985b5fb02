// Ctrl-C that ends the modelling with what is known so far, instead of the process.
#pragma once

namespace warplens::driver {

/// While one exists, the first SIGINT is noted; the second one has the effect that it had before.
class InterruptionWatch {
public:
  InterruptionWatch();
  ~InterruptionWatch();
  InterruptionWatch(const InterruptionWatch&) = delete;

  /// Returns whether there was one; any thread may call it.
  static bool was_interrupted();
};

} // namespace warplens::driver
