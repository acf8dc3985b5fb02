#include "model/gpu/mig.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>

namespace warplens::model {

std::vector<Gpu::Instance> read_instances(TomlFigures& figures, std::uint32_t sms) {
  if (!figures.has("mig"))
    return {};
  std::vector<std::uint32_t> slices, sms_of;
  std::vector<double> memory; // two kinds of instances may have as much
  figures.numbers("mig.slices", slices, 1, mig_slices);
  figures.numbers("mig.sms", sms_of, 1, std::max(1u, sms));
  figures.numbers("mig.memory_eighths", memory, 1, mig_memory_eighths);
  figures.require(slices.size() == sms_of.size() && slices.size() == memory.size(), "mig.slices",
                  "mig.slices, mig.sms and mig.memory_eighths to be as many");
  std::vector<Gpu::Instance> instances;
  for (std::size_t i = 0; i < std::min({slices.size(), sms_of.size(), memory.size()}); ++i)
    instances.push_back({slices[i], sms_of[i], std::uint32_t(memory[i])});
  return instances;
}

Expected<Gpu::Instance> instance_of(const Gpu& gpu, double slices) {
  if (gpu.instances.empty())
    return fail("{} ({}): MIG does not divide it, or its file has no [mig]", gpu.name, gpu.id);
  for (const Gpu::Instance& instance : gpu.instances)
    if (instance.slices == slices)
      return instance;
  std::vector<std::uint32_t> known;
  for (const Gpu::Instance& instance : gpu.instances)
    known.push_back(instance.slices);
  return fail("{} has no instance of {:g} slices, but of {}", gpu.id, slices, fmt::join(known, ", "));
}

Gpu part_of(const Gpu& gpu, const Gpu::Instance& instance) {
  Gpu part = gpu;
  part.sms = instance.sms;
  const double share = double(instance.memory_eighths) / mig_memory_eighths;
  const auto scale = [&](auto& figure) {
    using Figure = std::remove_reference_t<decltype(figure)>;
    figure = std::max(Figure(1), Figure(double(figure) * share));
  };
  scale(part.l2_bytes);
  scale(part.l2.slices);
  scale(part.dram.bytes);
  scale(part.dram.bus_bits);
  scale(part.dram.channels);
  for (double* const rate : {&part.l2.bytes_per_ns, &part.l2.write_bytes_per_ns, &part.l2.atomics_per_ns,
                             &part.dram.bytes_per_cycle})
    *rate *= share;
  if (2 * instance.memory_eighths <= mig_memory_eighths) {
    part.l2.partitions = 1;
    part.l2.hop_ns = part.l2.hop_bytes_per_ns = 0;
  }
  part.l2.set_aside = 0; // CUDA C++ Programming Guide: not with MIG
  part.instances.clear();
  for (Gpu& machine : part.machines)
    machine = part_of(machine, instance);
  return part;
}

} // namespace warplens::model
