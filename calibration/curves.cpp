#include "calibration/curves.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>

namespace warplens::calibration {
namespace {

namespace fs = std::filesystem;

using Row = std::vector<std::string>;

/// Splits a line. Values hold no commas, but for the last, which may (a GPU's name).
Row split(const std::string& line, std::size_t columns) {
  Row row;
  std::size_t begin = 0;
  while (row.size() + 1 < columns) {
    const std::size_t comma = line.find(',', begin);
    if (comma == std::string::npos)
      break;
    row.push_back(line.substr(begin, comma - begin));
    begin = comma + 1;
  }
  row.push_back(line.substr(begin));
  return row;
}

bool read_number(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Calls `take` for each row behind the heading, which must be `heading`. A missing file has no rows.
Expected<void> read_rows(const fs::path& file, const std::string& heading,
                         const std::function<bool(const Row&)>& take) {
  std::ifstream stream(file);
  if (!stream)
    return {};
  std::string line;
  unsigned number = 0;
  const auto columns = static_cast<std::size_t>(std::count(heading.begin(), heading.end(), ',')) + 1;
  while (std::getline(stream, line)) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    if (++number == 1 ? line == heading : line.empty() || take(split(line, columns)))
      continue;
    return fail("{}:{}: expected {}", file.string(), number, number == 1 ? heading : "a row of " + heading);
  }
  return {};
}

Expected<void> read_samples(const fs::path& file, const std::string& heading, std::vector<Sample>& samples) {
  return read_rows(file, heading, [&](const Row& row) {
    Sample& added = samples.emplace_back();
    return row.size() == 2 ? read_number(row[0], added.x) && read_number(row[1], added.cycles)
                           : row.size() == 3 && read_number(row[0], added.x) &&
                                 read_number(row[1], added.y) && read_number(row[2], added.cycles);
  });
}

Expected<void> read_values(const fs::path& file, const std::string& heading,
                           std::map<std::string, double>& values) {
  return read_rows(file, heading,
                   [&](const Row& row) { return row.size() == 2 && read_number(row[1], values[row[0]]); });
}

} // namespace

Expected<Curves> read_curves(const fs::path& folder) {
  Curves curves;
  std::map<std::string, double> bandwidth;
  const Expected<void> all[] = {
      read_rows(
          folder / "device.csv", "property,value",
          [&](const Row& row) { return row.size() == 2 && curves.device.emplace(row[0], row[1]).second; }),
      read_rows(folder / "chase.csv", "kib,cycles",
                [&](const Row& row) {
                  ChasePoint& point = curves.chase.emplace_back();
                  return row.size() == 2 && read_number(row[0], point.kib) &&
                         read_number(row[1], point.cycles) && point.kib > 0 && point.cycles > 0;
                }),
      read_samples(folder / "strides.csv", "stride_bytes,pointers,cycles", curves.strides),
      read_samples(folder / "touch_l1.csv", "offset_bytes,cycles", curves.touch_l1),
      read_samples(folder / "touch_l2.csv", "offset_bytes,cycles", curves.touch_l2),
      read_values(folder / "policies.csv", "history,cycles", curves.policies),
      read_samples(folder / "distance.csv", "sm,load,cycles", curves.distance),
      read_samples(folder / "bits.csv", "bit,cycles", curves.bits),
      read_samples(folder / "batches.csv", "sms,requests,cycles", curves.batches),
      read_values(folder / "on_chip.csv", "what,cycles", curves.on_chip),
      read_values(folder / "bandwidth.csv", "what,gb_per_s", bandwidth),
  };
  for (const Expected<void>& read : all)
    if (!read)
      return tl::unexpected(read.error());
  if (curves.device.empty())
    return fail("{}: no device.csv: is this a folder that `warplens calibrate --curves` left?",
                folder.string());
  if (curves.chase.empty())
    return fail("{}: no chase.csv, or nothing in it", folder.string());
  curves.read_gb_per_s = bandwidth["read"];
  return curves;
}

} // namespace warplens::calibration
