#include "report/resource_text.h"

namespace warplens::report {

double share_of(const ByResource& shares, Resource resource) {
  return shares[static_cast<std::size_t>(resource)];
}

std::string_view text_of(Resource resource) {
  return traits_of(resource).title;
}

std::string_view text_of_bound(std::optional<Resource> bound) {
  return bound ? text_of(*bound) : "latency";
}

std::string_view work_of(Resource resource) {
  return traits_of(resource).work;
}

} // namespace warplens::report
