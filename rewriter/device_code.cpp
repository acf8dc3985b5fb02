#include "rewriter/device_code.h"

#include "rewriter/parse.h"
#include "rewriter/text_record.h"

#include <algorithm>
#include <array>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <memory>
#include <string_view>

namespace warplens::rewriter {
namespace {

class DeviceCodeFinder : public clang::PreprocessorFrontendAction {
public:
  bool found() const { return found_; }

protected:
  void ExecuteAction() override {
    clang::Preprocessor& preprocessor = getCompilerInstance().getPreprocessor();
    preprocessor.addPPCallbacks(std::make_unique<FilesEntered>(*this));
    preprocessor.IgnorePragmas();
    preprocessor.EnterMainSourceFile();
    for (clang::Token token; !found_;) {
      preprocessor.Lex(token);
      if (token.is(clang::tok::eof))
        break;
      read(token);
    }
  }

private:
  struct FilesEntered : clang::PPCallbacks {
    explicit FilesEntered(DeviceCodeFinder& owner) : finder(owner) {}
    void FileChanged(clang::SourceLocation place, FileChangeReason reason, clang::SrcMgr::CharacteristicKind,
                     clang::FileID) override {
      if (reason == EnterFile)
        finder.search(place);
    }
    DeviceCodeFinder& finder;
  };

  /// Searches the file as it is written, inactive parts included.
  void search(clang::SourceLocation place) {
    const clang::SourceManager& sources = getCompilerInstance().getSourceManager();
    if (!is_users(sources, place))
      return;
    const std::string_view text = sources.getBufferData(sources.getFileID(place));
    found_ |= std::ranges::any_of(std::array{"__global__", "__device__"}, [&](const char* word) {
      return text.find(word) != std::string_view::npos;
    });
  }

  /// Notices attributes that a library's macros may expand to: __attribute__((device)).
  void read(const clang::Token& token) {
    if (token.is(clang::tok::kw___attribute))
      in_attribute_ = true;
    else if (token.isOneOf(clang::tok::semi, clang::tok::l_brace, clang::tok::r_brace))
      in_attribute_ = false;
    const clang::IdentifierInfo* name = token.getIdentifierInfo();
    if (!name)
      return;
    const bool is_device = in_attribute_ && (name->isStr("device") || name->isStr("global"));
    // --expt-relaxed-constexpr lets constexpr functions run on the device.
    const bool runs_anywhere =
        token.is(clang::tok::kw_constexpr) &&
        getCompilerInstance().getPreprocessor().isMacroDefined("WARPLENS_RELAXED_CONSTEXPR");
    found_ |= (is_device || runs_anywhere) &&
              is_users(getCompilerInstance().getSourceManager(), token.getLocation());
  }

  bool in_attribute_ = false;
  bool found_ = false;
};

} // namespace

Expected<bool> may_have_device_code(const std::vector<std::string>& arguments, const std::string& source) {
  TRY_LET(compilation, prepare_parse(arguments, source));
  DeviceCodeFinder finder;
  compilation->compiler->ExecuteAction(finder);
  return finder.found() || !compilation->errors->errors().empty();
}

} // namespace warplens::rewriter
