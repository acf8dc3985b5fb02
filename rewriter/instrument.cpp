#include "rewriter/instrument.h"

#include "analysis/analyse.h"
#include "analysis/survivors.h"
#include "rewriter/device_code.h"
#include "rewriter/find.h"
#include "rewriter/locate.h"
#include "rewriter/parse.h"
#include "rewriter/plan.h"
#include "rewriter/print.h"
#include "rewriter/refused.h"
#include "rewriter/text_record.h"
#include "support/files.h"

#include <algorithm>
#include <array>
#include <clang/Basic/SourceManager.h>
#include <iterator>
#include <optional>
#include <set>

namespace warplens::rewriter {

namespace {

/// Clang's errors, each as something that is not seen: nobody knows how many accesses it hides.
void note_refused(const clang::SourceManager& sources, const RefusedFunctions& refused,
                  std::vector<Unseen>& unseen) {
  for (const analysis::ClangError& error : refused.in_device_functions()) {
    const clang::PresumedLoc place = sources.getPresumedLoc(error.place);
    const auto entry = sources.getFileEntryRefForID(place.getFileID());
    const std::string file = entry ? name_of(*entry) : place.getFilename();
    const bool known = std::ranges::any_of(unseen, [&](const Unseen& one) {
      return one.file == file && one.line == place.getLine() && one.column == place.getColumn();
    });
    if (!known)
      unseen.push_back({file, place.getLine(), place.getColumn(), "",
                        "Clang does not take its function: " + error.reason});
  }
}

/// Accesses to local memory that no expression stands for.
void note_unwritten(const clang::ASTContext& context, const analysis::Survivors& survivors,
                    const Located& located, std::set<analysis::Position>& positions,
                    std::vector<Unseen>& unseen) {
  std::set<analysis::Position> written;
  for (const Access& access : located.accesses)
    if (access.is_local) // it has a probe, or plan() tells why not
      written.insert(access.in_debug_information);
  const clang::SourceManager& sources = context.getSourceManager();
  for (const analysis::Position& position : survivors.local_accesses()) {
    if (written.contains(position))
      continue;
    positions.insert(position);
    const auto file = sources.getFileManager().getOptionalFileRef(position.file);
    if (!file)
      continue;
    const auto place = sources.translateFileLineCol(*file, position.line, position.column);
    if (const auto entry = sources.getFileEntryRefForID(sources.getFileID(place));
        entry && is_users(sources, place))
      unseen.push_back({name_of(*entry), position.line, position.column, "",
                        "local memory that is initialised or copied here"});
  }
}

/// Is there code for one architecture and not for others? (CUDA C++ Programming Guide, "__CUDA_ARCH__")
bool depends_on_architecture(const UserFiles& files, const std::filesystem::path& source) {
  const auto mentions = [](const std::filesystem::path& path) {
    const std::string text = read_file(path).value_or("");
    return std::ranges::any_of(std::array{"__CUDA_ARCH", "NV_IF_", "NV_DISPATCH_TARGET"},
                               [&](const char* word) { return text.find(word) != std::string::npos; });
  };
  return mentions(source) ||
         std::ranges::any_of(files, [&](const auto& file) { return mentions(file.first); });
}

} // namespace

Expected<Instrumented> instrument(const Request& request) {
  const std::string source = request.source.string();
  if (std::error_code error; !std::filesystem::is_regular_file(request.source, error))
    return fail("{}: no such file", source);

  auto architectures = per_architecture(request.clang_arguments);
  const auto device_code = may_have_device_code(architectures.front(), source);
  if (!device_code)
    return tl::unexpected(device_code.error());
  if (!*device_code)
    architectures.clear(); // then there is nothing to parse for

  Instrumented result;
  UserFiles files;
  std::vector<Located> parses;
  std::optional<analysis::Survivors> survivors;
  std::set<analysis::Position> unwritten; // accesses to local memory
  std::string refusal;                    // the first error in a device function
  for (const std::vector<std::string>& arguments : architectures) {
    if (!parses.empty() && !depends_on_architecture(files, request.source))
      break;
    const bool find_survivors = parses.empty(); // by the first architecture
    auto parsed = parse(
        arguments, source, find_survivors,
        [&](clang::ASTContext& context, const TextRecord& record, const RefusedFunctions& refused,
            const analysis::Survivors* left) {
          if (left)
            survivors = *left;
          const Found found = find_memory_operations(context, refused, survivors ? &*survivors : nullptr);
          note_refused(context.getSourceManager(), refused, result.unseen);
          if (refusal.empty() && !refused.in_device_functions().empty())
            refusal = refused.in_device_functions().front().message;
          std::vector<MemoryOperation> operations;
          std::transform(found.operations.begin(), found.operations.end(), std::back_inserter(operations),
                         [](const FoundOperation& operation) { return operation.operation; });
          parses.push_back(locate(context, record, found, analysis::analyse(context, operations),
                                  survivors && !request.keep_removed ? &*survivors : nullptr, files));
          if (left)
            note_unwritten(context, *left, parses.back(), unwritten, result.unseen);
        });
    if (!parsed)
      return tl::unexpected(parsed.error());
  }

  auto edits = plan(parses, files);
  if (!edits)
    return tl::unexpected(edits.error());
  if (!refusal.empty() && edits->sites.empty())
    return fail("{}", refusal); // all there is to see is in functions that Clang refuses
  if (survivors)
    std::erase_if(edits->unseen_local, [&](const analysis::Position& position) {
      return !survivors->local_accesses().contains(position);
    });
  edits->unseen_local.merge(unwritten);
  auto printed = print(*edits, files, request.source, request.output_directory);
  if (!printed)
    return tl::unexpected(printed.error());
  result.files = std::move(*printed);
  result.sites = std::move(edits->sites);
  result.removed = std::move(edits->removed);
  result.unseen.insert(result.unseen.end(), edits->unseen.begin(), edits->unseen.end());
  result.repeated = std::move(edits->repeated);
  return result;
}

} // namespace warplens::rewriter
