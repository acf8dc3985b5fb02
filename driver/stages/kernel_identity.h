// Hashes of what each kernel of a trace is modelled from, so that equal ones need not be modelled again.
#pragma once

#include "driver/options.h"
#include "model/gpu/gpu.h"
#include "result/result.h"
#include "support/expected.h"
#include "trace/reader.h"

#include <functional>
#include <vector>

namespace warplens::driver {

/// Returns the identities of the wanted launches, and of each on every GPU in turn: in the order in which
/// they are modelled. Programs that run alike have the same, however their threads took turns; of a program
/// whose threads race for the order of atomics two runs may differ.
Expected<std::vector<KernelIdentity>>
identities_of(const trace::Reader& trace, const std::vector<model::Gpu>& gpus, const ModelOptions& options,
              const std::function<bool(const trace::Launch&)>& wants_launch);

/// Returns the kernel of a result that has this identity; null: there is none.
const KernelResult* find_equal(const Result& known, const KernelIdentity& identity, const std::string& name,
                               const std::string& gpu);

} // namespace warplens::driver
