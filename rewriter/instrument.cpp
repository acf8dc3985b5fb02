#include "rewriter/instrument.h"

#include "analysis/accesses_left.h"
#include "analysis/analyse.h"
#include "analysis/precompiled_headers.h"
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

/// Notes each of Clang's errors as unseen accesses, of unknown number.
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

/// Notes accesses to local memory that have no expression in the source.
void note_unwritten(const clang::ASTContext& context, const analysis::AccessesLeft& accesses_left,
                    const Located& located, std::set<analysis::Position>& positions,
                    std::vector<Unseen>& unseen) {
  std::set<analysis::Position> written;
  for (const Access& access : located.accesses)
    if (access.is_local) // it has a probe, or plan() says why not
      written.insert(access.in_debug_information);
  const clang::SourceManager& sources = context.getSourceManager();
  for (const analysis::Position& position : accesses_left.local_accesses()) {
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

void note_read_files(clang::ASTContext& context, std::set<std::string>& read) {
  const clang::SourceManager& sources = context.getSourceManager();
  for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file)
    read.insert(std::string(file->first.getName()));
  analysis::note_precompiled_files(context, read);
}

/// Returns whether there is code for one architecture and not for others (CUDA C++ Programming Guide,
/// "__CUDA_ARCH__").
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
  TRY_LET(device_code, may_have_device_code(architectures.front(), source));
  if (!*device_code)
    architectures.clear(); // there is nothing to parse then

  Instrumented result;
  UserFiles files;
  std::vector<Located> parses;
  std::optional<analysis::AccessesLeft> accesses_left;
  std::set<analysis::Position> unwritten; // positions of accesses to local memory
  std::string refusal;                    // the first error in a device function
  for (const std::vector<std::string>& arguments : architectures) {
    if (!parses.empty() && !depends_on_architecture(files, request.source))
      break;
    const bool find_accesses_left = parses.empty(); // only the first architecture is compiled
    TRY_LET(parsed,
            parse(arguments, source, find_accesses_left, request.cache,
                  [&](clang::ASTContext& context, const TextRecord& record, const RefusedFunctions& refused,
                      const analysis::AccessesLeft* left) {
                    note_read_files(context, result.read);
                    if (left)
                      accesses_left = *left;
                    const Found found =
                        find_memory_operations(context, refused, accesses_left ? &*accesses_left : nullptr);
                    note_refused(context.getSourceManager(), refused, result.unseen);
                    if (refusal.empty() && !refused.in_device_functions().empty())
                      refusal = refused.in_device_functions().front().message;
                    std::vector<MemoryOperation> operations;
                    std::transform(found.operations.begin(), found.operations.end(),
                                   std::back_inserter(operations),
                                   [](const FoundOperation& operation) { return operation.operation; });
                    parses.push_back(locate(
                        context, record, found,
                        analysis::analyse(context, operations, accesses_left ? &*accesses_left : nullptr),
                        accesses_left && !request.keep_removed ? &*accesses_left : nullptr,
                        refused.without_code(), files));
                    if (result.refused.empty() && !refused.without_code().empty())
                      result.refused = refused.without_code().front().reason;
                    if (left)
                      note_unwritten(context, *left, parses.back(), unwritten, result.unseen);
                  }));
  }

  TRY_LET(edits, plan(parses, files));
  if (!refusal.empty() && edits->sites.empty() && result.refused.empty())
    return fail("{}", refusal); // all accesses are in functions that Clang refuses
  if (accesses_left)
    std::erase_if(edits->unseen_local, [&](const analysis::Position& position) {
      return !accesses_left->local_accesses().contains(position);
    });
  edits->unseen_local.merge(unwritten);
  TRY_LET(printed, print(*edits, files, request.source, request.output_directory));
  result.files = std::move(*printed);
  result.sites = std::move(edits->sites);
  result.removed = std::move(edits->removed);
  result.unseen.insert(result.unseen.end(), edits->unseen.begin(), edits->unseen.end());
  result.repeated = std::move(edits->repeated);
  return result;
}

} // namespace warplens::rewriter
