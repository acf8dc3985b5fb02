#include "rewriter/instrument.h"

#include "analysis/analyse.h"
#include "analysis/survivors.h"
#include "rewriter/find.h"
#include "rewriter/locate.h"
#include "rewriter/parse.h"
#include "rewriter/plan.h"
#include "rewriter/print.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace warplens::rewriter {

Expected<Instrumented> instrument(const Request& request) {
  const std::string source = request.source.string();
  if (std::error_code error; !std::filesystem::is_regular_file(request.source, error))
    return fail("{}: no such file", source);

  UserFiles files;
  std::vector<Located> parses;
  std::optional<analysis::Survivors> survivors;
  for (const std::vector<std::string>& arguments : per_architecture(request.clang_arguments)) {
    const bool find_survivors = !request.keep_removed && parses.empty(); // by the first architecture
    auto parsed =
        parse(arguments, source, find_survivors,
              [&](clang::ASTContext& context, const TextRecord& record, const analysis::Survivors* found) {
                if (found)
                  survivors = *found;
                const Found tree = find_memory_operations(context);
                std::vector<MemoryOperation> operations;
                std::transform(tree.operations.begin(), tree.operations.end(), std::back_inserter(operations),
                               [](const FoundOperation& operation) { return operation.operation; });
                parses.push_back(locate(context, record, tree, analysis::analyse(context, operations),
                                        survivors ? &*survivors : nullptr, files));
              });
    if (!parsed)
      return tl::unexpected(parsed.error());
  }

  auto edits = plan(parses, files);
  if (!edits)
    return tl::unexpected(edits.error());
  Instrumented result;
  auto printed = print(*edits, files, request.source, request.output_directory);
  if (!printed)
    return tl::unexpected(printed.error());
  result.files = std::move(*printed);
  result.sites = std::move(edits->sites);
  result.removed = std::move(edits->removed);
  result.unseen = std::move(edits->unseen);
  result.repeated = std::move(edits->repeated);
  return result;
}

} // namespace warplens::rewriter
