// The placements of a trace's launches as text, JSON, CSV and a page.
#pragma once

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

/// Prints the candidates of each kernel, the fastest first, with what binds them, then those that were
/// refused with the line that forbids each.
std::string print_text(const PlacementReport& report, bool colour);

/// Returns the report as JSON; docs/schemas/placement.json is its schema.
nlohmann::ordered_json to_json(const PlacementReport& report);

/// Prints a row per candidate, RFC 4180.
std::string print_csv(const PlacementReport& report);

/// Prints a page with a matrix of arrays and places for each kernel, coloured by gain; refused ones are
/// hatched, with the reason. It needs no other file and no network.
std::string print_page(const PlacementReport& report);

/// Returns the reasons of all refusals as one line: "131072 B of 65536 (nn.cu:41)".
std::string text_of(const std::vector<Reason>& reasons);

} // namespace warplens::placement
