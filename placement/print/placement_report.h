// The placements of a trace's launches as a document, as JSON and as a page.
#pragma once

#include "document/document.h"
#include "placement/experiment.h"
#include "placement/search.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace warplens::placement {

/// One launch on one GPU.
struct KernelPlacements {
  const Experiment* experiment = nullptr;
  SearchResult found;
  bool is_search = false; ///< several moves were tried together
};

struct PlacementReport {
  std::string program;
  std::uint64_t seed = 0;
  std::vector<KernelPlacements> kernels;
  std::optional<OverlapModel> overlap; ///< that was trained
};

inline constexpr const char* placement_schema = "warplens-placement/1";

/// Returns the candidates of each kernel, the fastest first, with what binds them, then those that were
/// refused with the line that forbids each; programs read the launch as it is first.
document::Document placement_document(const PlacementReport& report);

/// Returns the report as JSON; docs/schemas/placement.json is its schema.
nlohmann::ordered_json to_json(const PlacementReport& report);

/// Prints a page with a matrix of arrays and places for each kernel, coloured by gain; refused ones are
/// hatched, with the reason. It needs no other file and no network.
std::string print_page(const PlacementReport& report);

} // namespace warplens::placement
