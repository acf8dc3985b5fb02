#include "analysis/precompiled_headers.h"

#include "analysis/clang_invocation.h"
#include "support/content_cache.h"

#include <algorithm>
#include <chrono>
#include <clang/AST/ASTContext.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Lex/HeaderSearchOptions.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Serialization/ASTReader.h>
#include <fmt/format.h>
#include <llvm/Support/MemoryBuffer.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <vector>

namespace warplens::analysis {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// The tree is kept beside its description, which has the key itself.
constexpr const char* tree_suffix = ".headers";

/// Returns how many of the forced headers, from the first on, are not the user's.
std::size_t own_headers(const std::vector<std::string>& forced) {
  const auto is_users = [](const std::string& header) {
    return !header.ends_with("__clang_cuda_runtime_wrapper.h") &&
           !header.ends_with("warplens_compatibility.h");
  };
  return static_cast<std::size_t>(std::ranges::find_if(forced, is_users) - forced.begin());
}

/// Quoted names, and those in angle brackets, are searched in these folders before the toolkit's.
bool is_searched_first(const clang::HeaderSearchOptions::Entry& folder) {
  return folder.Group == clang::frontend::Quoted || folder.Group == clang::frontend::Angled;
}

bool is_of_system(std::string_view folder) {
  return folder.starts_with("/usr/include") || folder.starts_with("/usr/lib");
}

/// Returns the options for the headers alone: what differs from source to source and does not concern the
/// tree is left out.
std::shared_ptr<clang::CompilerInvocation> invocation_for_headers(clang::CompilerInstance& compiler) {
  auto invocation = std::make_shared<clang::CompilerInvocation>(compiler.getInvocation());
  auto& preprocessor = invocation->getPreprocessorOpts();
  preprocessor.Includes.resize(own_headers(preprocessor.Includes));
  std::erase_if(invocation->getHeaderSearchOpts().UserEntries, is_searched_first);
  invocation->getDependencyOutputOpts() = {};
  invocation->getLangOpts().CUID.clear();
  auto& code = invocation->getCodeGenOpts();
  for (std::string* text : {&code.MainFileName, &code.DebugCompilationDir, &code.CoverageCompilationDir,
                            &code.CudaGpuBinaryFileName})
    text->clear();
  auto& frontend = invocation->getFrontendOpts();
  frontend.ProgramAction = clang::frontend::GeneratePCH;
  frontend.Inputs.clear();
  frontend.OutputFile.clear();
  return invocation;
}

std::string options_of(const clang::CompilerInvocation& invocation) {
  std::string text = "headers\n";
  invocation.generateCC1CommandLine([&](const llvm::Twine& word) { (text += word.str()) += '\0'; });
  return text;
}

/// Identifies a file as it is, without reading it; empty if there is none.
std::string state_of(const std::string& file) {
  struct stat found{};
  if (stat(file.c_str(), &found) != 0)
    return {};
  return fmt::format("{} {} {} {}.{}", found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec,
                     found.st_mtim.tv_nsec);
}

/// Notes the names by which headers are included or looked for.
class NamesOfHeaders : public clang::PPCallbacks {
public:
  explicit NamesOfHeaders(std::set<std::string>& names) : names_(names) {}

  void InclusionDirective(clang::SourceLocation, const clang::Token&, llvm::StringRef name, bool,
                          clang::CharSourceRange, clang::OptionalFileEntryRef, llvm::StringRef,
                          llvm::StringRef, const clang::Module*, bool,
                          clang::SrcMgr::CharacteristicKind) override {
    names_.insert(name.str());
  }
  void HasInclude(clang::SourceLocation, llvm::StringRef name, bool, clang::OptionalFileEntryRef,
                  clang::SrcMgr::CharacteristicKind) override {
    names_.insert(name.str());
  }

private:
  std::set<std::string>& names_;
};

class HeadersAction : public clang::GeneratePCHAction {
public:
  std::set<std::string> names;
  Json files = Json::object(); ///< their states by their names

protected:
  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    compiler.getPreprocessor().addPPCallbacks(std::make_unique<NamesOfHeaders>(names));
    return GeneratePCHAction::BeginSourceFileAction(compiler);
  }
  void EndSourceFileAction() override {
    const clang::SourceManager& sources = getCompilerInstance().getSourceManager();
    for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file)
      files[file->first.getName().str()] = state_of(file->first.getName().str());
    GeneratePCHAction::EndSourceFileAction();
  }
};

/// Returns the places in folders that are always searched where there is no header of these names.
Json absent_places(const clang::CompilerInvocation& invocation, const std::set<std::string>& names) {
  Json absent = Json::array();
  for (const auto& folder : invocation.getHeaderSearchOpts().UserEntries)
    if (!is_of_system(folder.Path))
      for (const std::string& name : names)
        if (auto place = (fs::path(folder.Path) / name).string(); state_of(place).empty())
          absent.push_back(std::move(place));
  return absent;
}

/// Makes the tree, and stores it with the description of what it depends on.
void make_tree(clang::CompilerInstance& compiler, std::shared_ptr<clang::CompilerInvocation> invocation,
               const ContentCache& cache, const std::string& key) {
  Json description;
  bool has_errors = false;
  const auto text = llvm::MemoryBuffer::getMemBuffer("", "headers");
  const bool made = cache.store_file(key + tree_suffix, [&](const fs::path& file) {
    invocation->getFrontendOpts().OutputFile = file.string();
    invocation->getFrontendOpts().Inputs.emplace_back(text->getMemBufferRef(),
                                                      compiler.getFrontendOpts().Inputs.front().getKind());
    ErrorList errors;
    clang::CompilerInstance maker;
    maker.createDiagnostics(&errors, /*ShouldOwnClient=*/false);
    maker.setInvocation(invocation);
    maker.createFileManager(compiler.getFileManager().getVirtualFileSystemPtr());
    HeadersAction action;
    const auto begun = std::chrono::system_clock::now();
    has_errors = !maker.ExecuteAction(action) || !errors.errors().empty();
    if (has_errors)
      return false;
    for (const auto& [name, state] : action.files.items()) {
      struct stat found{};
      if (stat(name.c_str(), &found) != 0 ||
          std::chrono::seconds(found.st_mtim.tv_sec + 1) >= begun.time_since_epoch())
        return false; // it may have changed since it was read
    }
    description = {{"files", action.files},
                   {"names", action.names},
                   {"absent", absent_places(*invocation, action.names)},
                   {"bytes", fs::file_size(file)}};
    return true;
  });
  if (made)
    cache.store(key, description.dump());
  else if (has_errors)
    cache.store(key, R"({"has_errors": true})"); // so that it is tried once
}

/// Returns whether the headers are what they were, and each the first of its name that is found.
bool holds(const Json& description, clang::CompilerInstance& compiler) {
  std::set<std::string> read;
  for (const auto& [name, state] : description.at("files").items()) {
    const auto then = state.get<std::string>();
    if (state_of(name) != then)
      return false;
    read.insert(then);
  }
  for (const Json& place : description.at("absent"))
    if (!state_of(place.get<std::string>()).empty())
      return false;
  for (const auto& folder : compiler.getHeaderSearchOpts().UserEntries)
    if (is_searched_first(folder))
      for (const Json& name : description.at("names"))
        if (const auto state = state_of((fs::path(folder.Path) / name.get<std::string>()).string());
            !state.empty() && !read.contains(state))
          return false;
  return true;
}

} // namespace

bool use_precompiled_headers(clang::CompilerInstance& compiler, const fs::path& cache_folder) {
  const ContentCache cache(cache_folder);
  auto& preprocessor = compiler.getPreprocessorOpts();
  const std::size_t own = own_headers(preprocessor.Includes);
  if (!cache.enabled() || own == 0)
    return false;
  auto invocation = invocation_for_headers(compiler);
  const auto& folders = invocation->getHeaderSearchOpts().UserEntries;
  if (std::ranges::any_of(folders, [](const auto& folder) { return !fs::path(folder.Path).is_absolute(); }))
    return false;
  const std::string key = ContentCache::key(options_of(*invocation));
  const auto known = cache.find(key);
  if (!known) {
    cache.store(key, "{}"); // seen once
    return false;
  }
  auto description = Json::parse(*known, nullptr, false);
  if (!description.is_object() || description.contains("has_errors"))
    return false;
  const auto is_current = [&](const std::optional<fs::path>& tree) {
    std::error_code vanished;
    return tree && description.contains("bytes") && description["bytes"] == fs::file_size(*tree, vanished) &&
           holds(description, compiler);
  };
  auto tree = cache.find_file(key + tree_suffix);
  if (!is_current(tree)) {
    make_tree(compiler, std::move(invocation), cache, key);
    description = Json::parse(cache.find(key).value_or(""), nullptr, false);
    tree = cache.find_file(key + tree_suffix);
    if (!is_current(tree))
      return false;
  }
  preprocessor.Includes.erase(preprocessor.Includes.begin(),
                              preprocessor.Includes.begin() + static_cast<std::ptrdiff_t>(own));
  preprocessor.ImplicitPCHInclude = tree->string();
  // All that Clang would compare is in the key or in the description.
  preprocessor.DisablePCHOrModuleValidation = clang::DisableValidationForModuleKind::PCH;
  return true;
}

void note_precompiled_files(clang::ASTContext& context, std::set<std::string>& read) {
  // Trees of headers are the only external source that a compilation of ours has.
  auto* const reader = static_cast<clang::ASTReader*>(context.getExternalSource());
  if (!reader)
    return;
  for (clang::serialization::ModuleFile& tree : reader->getModuleManager())
    reader->visitInputFiles(tree, /*IncludeSystem=*/true, /*Complain=*/false,
                            [&](const clang::serialization::InputFile& file, bool) {
                              if (const auto entry = file.getFile())
                                read.insert(entry->getName().str());
                            });
}

} // namespace warplens::analysis
