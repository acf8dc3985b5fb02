// Converts shares by the names of an enumeration to JSON and back.
#pragma once

#include "result/json_node.h"
#include "vocabulary/access.h"

#include <span>

namespace warplens {

/// Returns one entry for each that is not 0, by its name.
template <Named Kind>
nlohmann::ordered_json shares_by(std::span<const double, names_of<Kind>.size()> shares) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t index = 0; index < shares.size(); ++index)
    if (shares[index] != 0 && std::isfinite(shares[index]))
      json[std::string(name_of(static_cast<Kind>(index)))] = shares[index];
  return json;
}

/// Reads the share of each that is there by its name.
template <Named Kind>
void read_shares(const JsonNode& node, std::span<double, names_of<Kind>.size()> target) {
  for (std::size_t index = 0; index < target.size(); ++index) {
    const std::string name(name_of(static_cast<Kind>(index)));
    if (!node.has(name.c_str()))
      continue;
    const JsonNode share = node[name.c_str()];
    share.read(target[index]);
    share.require(target[index] >= 0 && target[index] <= 1 + rounding, "a number from 0 to 1");
  }
}

} // namespace warplens
