// Reads JSON values into ours, with types and ranges checked and the path in errors.
#pragma once

#include "result/result.h"

#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>

namespace warplens {

/// A value and its path, e.g. `kernels[0].sites[2].line`. The root keeps the first error of a whole tree of
/// nodes, which does not name the document's schema; reads after it leave their targets alone, so that the
/// code below can list the fields without a check at each.
class JsonNode {
public:
  JsonNode(const nlohmann::json& value, std::optional<Error>& error) : value_(&value), error_(&error) {}

  /// Returns the required member, or a null node with the error set.
  JsonNode operator[](const char* key) const {
    if (!expect(value_ && value_->is_object(), "an object"))
      return {};
    const auto found = value_->find(key);
    const std::string path = path_.empty() ? key : path_ + "." + key;
    if (found == value_->end()) {
      reject(fmt::format("{} is missing", path));
      return {};
    }
    return {*found, *error_, path};
  }

  bool has(const char* key) const {
    return expect(value_ && value_->is_object(), "an object") && value_->contains(key);
  }

  template <class Visit> void for_each(Visit visit) const {
    if (!expect(value_ && value_->is_array(), "an array"))
      return;
    for (std::size_t index = 0; index < value_->size() && sound(); ++index)
      visit(JsonNode((*value_)[index], *error_, fmt::format("{}[{}]", path_, index)));
  }

  void read(std::string& target) const {
    if (expect(value_ && value_->is_string(), "a string"))
      target = value_->get_ref<const std::string&>();
  }

  void read(bool& target) const {
    if (expect(value_ && value_->is_boolean(), "true or false"))
      target = value_->get<bool>();
  }

  void read(double& target) const {
    if (expect(value_ && value_->is_number() && std::isfinite(value_->get<double>()), "a finite number"))
      target = value_->get<double>();
  }

  void read(std::int64_t& target) const {
    const bool fits =
        value_ && value_->is_number_integer() &&
        (!value_->is_number_unsigned() ||
         value_->get<std::uint64_t>() <= std::uint64_t(std::numeric_limits<std::int64_t>::max()));
    if (expect(fits, "a whole number of 64 bits"))
      target = value_->get<std::int64_t>();
  }

  template <std::unsigned_integral Integer>
    requires(!std::same_as<Integer, bool>)
  void read(Integer& target) const {
    constexpr auto limit = std::numeric_limits<Integer>::max();
    const bool whole = value_ && value_->is_number_integer() &&
                       (value_->is_number_unsigned() || value_->get<std::int64_t>() >= 0);
    if (expect(whole && value_->get<std::uint64_t>() <= limit,
               fmt::format("a whole number from 0 to {}", limit)))
      target = static_cast<Integer>(value_->get<std::uint64_t>());
  }

  /// Reads the site's identity: 16 hexadecimal digits.
  void read_identity(std::uint64_t& target) const {
    std::string text;
    read(text);
    if (!sound())
      return;
    std::uint64_t id = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
    if (expect(text.size() == 16 && problem == std::errc() && end == text.data() + text.size(),
               "16 hexadecimal digits"))
      target = id;
  }

  /// Reads a word that `parse` knows.
  template <class Target, class Parse> void read_word(Target& target, Parse parse, const char* words) const {
    std::string text;
    read(text);
    if (!sound())
      return;
    const auto found = parse(text);
    if (expect(found.has_value(), words))
      target = *found;
  }

  bool is_null() const { return value_ && value_->is_null(); }
  void require(bool condition, const char* what) const { expect(condition, what); }
  bool sound() const { return error_ && !*error_; }

private:
  JsonNode() = default;
  JsonNode(const nlohmann::json& value, std::optional<Error>& error, std::string path)
      : value_(&value), error_(&error), path_(std::move(path)) {}

  bool expect(bool condition, std::string_view what) const {
    if (sound() && !condition)
      reject(fmt::format("{} is not {}", path_.empty() ? "the top level" : path_, what));
    return sound() && condition;
  }

  void reject(const std::string& what) const {
    if (sound())
      *error_ = Error{what};
  }

  const nlohmann::json* value_ = nullptr;
  std::optional<Error>* error_ = nullptr;
  std::string path_;
};

/// Reads the numbers of an array; `count`, if given, is their required number.
template <class Number>
void read_list(const JsonNode& node, std::vector<Number>& target, std::optional<std::size_t> count = {}) {
  node.for_each([&](const JsonNode& item) { item.read(target.emplace_back()); });
  if (count)
    node.require(target.size() == *count, fmt::format("an array of {}", *count).c_str());
}

constexpr double rounding = 1e-9; ///< of sums of shares, and of parts of a whole

/// Reads a number that is not negative.
inline void read_amount(const JsonNode& node, double& target) {
  node.read(target);
  node.require(target >= 0, "a number that is not negative");
}

inline void read_share(const JsonNode& node, double& target) {
  node.read(target);
  node.require(target >= 0 && target <= 1 + rounding, "a number from 0 to 1");
}

} // namespace warplens
