// The rewritten source's description of each site for the runtime, as plain constants. Included by the user's
// (rewritten) source: keep it free of other headers.
#pragma once

namespace warplens {

/// One row of the table that the rewriter appends to a source file; fields as in Site, enumerations as their
/// numbers.
struct SiteRecord {
  unsigned long long id;
  const char* file;
  unsigned line, column;
  const char* expression;
  unsigned char kind, space, cache_operator;
  unsigned element_bytes;
  unsigned sequence;
  const char* object;
  const unsigned long long* depends_on; ///< may be null
  unsigned depends_on_count;
  const char* macro;
  bool in_template;
  unsigned copies; ///< 0: not known, taken as 1
  bool is_reduction;
  unsigned char aggregation;
  bool is_floating;
  unsigned last_line; ///< of a marked body; else 0
  unsigned step;      ///< of a marked loop; 0: not known
  bool waits;
};

} // namespace warplens

/// Provided by the runtime: linked in on the CPU back end, loaded when the program starts on the GPU back
/// end. Another object file may register the same site again; two different sites with one id stop the
/// program with a clear message.
extern "C" void __warplens_register_sites(const warplens::SiteRecord* records, unsigned long long count);

namespace warplens {
struct RegisterSites {
  RegisterSites(const SiteRecord* records, unsigned long long count) {
    __warplens_register_sites(records, count);
  }
};
} // namespace warplens
