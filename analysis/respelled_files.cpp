#include "analysis/respelled_files.h"

#include <algorithm>
#include <clang/Basic/LangOptions.h>
#include <clang/Lex/Lexer.h>
#include <llvm/Support/MemoryBuffer.h>
#include <vector>

namespace warplens::analysis {
namespace {

/// PTX ISA, "mbarrier.inval"
constexpr std::string_view barrier_end = "mbarrier.inval.";

/// The bytes that precompiled headers begin with, which are no text (clang/lib/Serialization).
constexpr llvm::StringLiteral precompiled_signature = "CPCH";

struct Word {
  std::size_t begin, end;
  std::string_view text;
};

/// Returns the tokens, without comments; those of directives are among them.
std::vector<Word> words_of(const std::string& text) {
  clang::LangOptions options; // not CUDA's: there <<< is one token
  options.CPlusPlus = options.CPlusPlus11 = options.CPlusPlus14 = options.CPlusPlus17 = options.LineComment =
      true;
  clang::Lexer lexer(clang::SourceLocation(), options, text.data(), text.data(), text.data() + text.size());
  std::vector<Word> words;
  for (clang::Token token; !lexer.LexFromRawLexer(token);) {
    const std::size_t end = lexer.getBufferLocation() - text.data();
    const std::size_t begin = end - token.getLength();
    words.push_back({begin, end, std::string_view(text).substr(begin, token.getLength())});
  }
  return words;
}

/// Turns `<<`, a blank and `<` into one launch token: the blank moves behind the three characters.
bool close_launch(std::string& text, const Word& two, const Word& one) {
  const bool brackets = (two.text == "<<" && one.text == "<") || (two.text == ">>" && one.text == ">");
  if (!brackets || one.begin == two.end)
    return false;
  const auto gap = text.begin() + static_cast<std::ptrdiff_t>(two.end);
  if (!std::all_of(gap, text.begin() + static_cast<std::ptrdiff_t>(one.begin),
                   [](char c) { return c == ' ' || c == '\t'; }))
    return false;
  std::swap(*gap, text[one.begin]);
  return true;
}

/// Returns the index behind the bracket that closes the one at words[open], or 0 if none does.
std::size_t behind_brackets(const std::vector<Word>& words, std::size_t open) {
  const std::string_view opening = words[open].text, closing = opening == "(" ? ")" : "}";
  int depth = 0;
  for (std::size_t i = open; i < words.size(); ++i) {
    depth += (words[i].text == opening) - (words[i].text == closing);
    if (depth == 0)
      return words[i].end;
  }
  return 0;
}

bool is_specifier(std::string_view word) {
  static constexpr std::string_view known[] = {"extern",   "static", "inline",
                                               "volatile", "const",  "__shared__"};
  return std::ranges::find(known, word) != std::end(known);
}

/// Moves `alignas(…)` behind `__shared__` in front of all the declaration's specifiers.
bool align_first(std::string& text, const std::vector<Word>& words, std::size_t at) {
  if (words[at].text != "alignas" || at + 1 == words.size() || words[at + 1].text != "(")
    return false;
  std::size_t first = at;
  bool shared = false;
  while (first > 0 && is_specifier(words[first - 1].text))
    shared |= words[--first].text == "__shared__";
  const std::size_t end = behind_brackets(words, at + 1);
  if (!shared || end == 0)
    return false;
  const auto place = [&](std::size_t offset) { return text.begin() + static_cast<std::ptrdiff_t>(offset); };
  std::rotate(place(words[first].begin), place(words[at].begin), place(end));
  return true;
}

/// Turns the pragma of `#define UNROLL #pragma unroll` into `__WL_P(unroll)` (runtime/compatibility/clang);
/// `words[at]` is the pragma's `#`. nvcc's front end reads preprocessed text, in which such a pragma stands
/// in a line of its own.
bool pragma_as_operator(std::string& text, const std::vector<Word>& words, std::size_t at) {
  if (at < 3 || at + 2 >= words.size() || words[at].text != "#" || words[at + 1].text != "pragma" ||
      words[at - 3].text != "#" || words[at - 2].text != "define")
    return false;
  const auto in_one_line = [&](std::size_t from, std::size_t to) {
    return text.substr(from, to - from).find_first_of("\n\\") == std::string::npos;
  };
  std::size_t last = at + 1;
  while (last + 1 < words.size() && in_one_line(words[at].begin, words[last + 1].end))
    ++last;
  const std::size_t begin = words[at].begin, rest = words[at + 1].end, end = words[last].end;
  if (last == at + 1 || !in_one_line(words[at - 3].begin, end))
    return false;
  const auto arguments = text.find_first_not_of(" \t", rest);
  const std::string call = "__WL_P(" + text.substr(arguments, end - arguments) + ")";
  text.replace(begin, end - begin, call + std::string(end - begin - call.size(), ' '));
  return true;
}

/// Returns whether a `#pragma` stands behind a `define` in one line.
bool may_define_pragma(std::string_view text) {
  for (auto at = text.find("#pragma"); at != text.npos; at = text.find("#pragma", at + 1)) {
    const auto line = text.rfind('\n', at) + 1; // 0 for the first line
    if (text.substr(line, at - line).find("define") != text.npos)
      return true;
  }
  return false;
}

/// Empties `~barrier() { … }` in the header that implements barriers in PTX.
bool empty_destructor(std::string& text, const std::vector<Word>& words, std::size_t at) {
  static constexpr std::string_view head[] = {"~", "barrier", "(", ")", "{"};
  for (std::size_t i = 0; i < std::size(head); ++i)
    if (at + i >= words.size() || words[at + i].text != head[i])
      return false;
  const std::size_t begin = words[at + 4].end, behind = behind_brackets(words, at + 4);
  if (behind == 0 || text.substr(begin, behind - begin).find(barrier_end) == std::string::npos)
    return false;
  for (std::size_t i = begin; i + 1 < behind; ++i)
    if (text[i] != '\n')
      text[i] = ' ';
  return true;
}

/// Returns whether the text begins with a special register (PTX ISA, "Special Registers"); registers that
/// have dimensions or numbers are listed by their beginning.
bool begins_special_register(std::string_view text) {
  static constexpr std::string_view names[] = {"tid.",
                                               "ntid.",
                                               "laneid",
                                               "warpid",
                                               "nwarpid",
                                               "ctaid.",
                                               "nctaid.",
                                               "smid",
                                               "nsmid",
                                               "gridid",
                                               "clock",
                                               "pm",
                                               "envreg",
                                               "globaltimer",
                                               "dynamic_smem_size",
                                               "lanemask_",
                                               "cluster_",
                                               "clusterid.",
                                               "ncluster",
                                               "is_explicit_cluster",
                                               "total_smem_size",
                                               "aggr_smem_size"};
  return std::ranges::any_of(names, [&](std::string_view name) { return text.starts_with(name); });
}

/// Returns the next blank in front of `%laneid` and the like, which nvcc takes for `%%laneid`.
std::size_t blank_before_register(std::string_view text, std::size_t from) {
  for (auto at = text.find('%', from); at != text.npos; at = text.find('%', at + 1))
    if (at > from && (text[at - 1] == ' ' || text[at - 1] == '\t') &&
        begins_special_register(text.substr(at + 1)))
      return at - 1;
  return text.npos;
}

/// Changes `asm("mov.u32 %0, %laneid;" : …)`: the blank becomes the other `%`. Without operands `%` stands
/// for itself.
bool double_percent(std::string& text, const std::vector<Word>& words, std::size_t at) {
  const std::string_view name = words[at].text;
  if (name != "asm" && name != "__asm__" && name != "__asm")
    return false;
  std::size_t open = at + 1;
  while (open < words.size() && words[open].text != "(" && open < at + 3)
    ++open; // behind volatile
  if (open == words.size() || words[open].text != "(")
    return false;
  std::size_t end = open + 1;
  while (end < words.size() && words[end].text.front() == '"')
    ++end;
  if (end == words.size() || !words[end].text.starts_with(':'))
    return false;
  bool changed = false;
  for (std::size_t i = open + 1; i < end; ++i)
    for (auto blank = blank_before_register(text, words[i].begin); blank < words[i].end;
         blank = blank_before_register(text, blank)) {
      text[blank] = '%';
      changed = true;
    }
  return changed;
}

/// The deduction guide of libcu++ that has no targets, unlike its others: Clang takes it for one of the host.
constexpr std::string_view guide_without_targets = "unexpected(_Err) ->";

/// Gives that guide its targets, in the room of the comment behind the `#endif` that follows it.
bool guide_with_targets(std::string& text, const std::vector<Word>& words, std::size_t at) {
  static constexpr std::string_view guide[] = {"unexpected", "(",    "_Err", ")", "->", "unexpected",
                                               "<",          "_Err", ">",    ";", "#",  "endif"};
  constexpr std::string_view targets = "_CCCL_HOST_DEVICE ";
  for (std::size_t i = 0; i < std::size(guide); ++i)
    if (at + i >= words.size() || words[at + i].text != guide[i])
      return false;
  const std::size_t begin = words[at].begin, end = words[at + std::size(guide) - 1].end;
  const std::size_t line_end = std::min(text.find('\n', end), text.size());
  if (!text.substr(end, line_end - end).starts_with(" //") || line_end - end < targets.size())
    return false;
  text.replace(begin, line_end - begin,
               std::string(targets) + text.substr(begin, end - begin) +
                   std::string(line_end - end - targets.size(), ' '));
  return true;
}

bool may_change(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  return has("<< ") || has(barrier_end) || has(guide_without_targets) || has("<<\t") ||
         (has("alignas") && has("__shared__")) || may_define_pragma(text) ||
         blank_before_register(text, 0) != text.npos;
}

class RespelledFile : public llvm::vfs::File {
public:
  explicit RespelledFile(std::unique_ptr<llvm::vfs::File> file) : file_(std::move(file)) {}

  llvm::ErrorOr<llvm::vfs::Status> status() override { return file_->status(); }
  llvm::ErrorOr<std::string> getName() override { return file_->getName(); }
  std::error_code close() override { return file_->close(); }

  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, int64_t size,
                                                               bool needs_null, bool is_volatile) override {
    auto buffer = file_->getBuffer(name, size, needs_null, is_volatile);
    if (!buffer)
      return buffer;
    if ((*buffer)->getBuffer().starts_with(precompiled_signature))
      return buffer;
    const auto respelt = respell((*buffer)->getBuffer());
    if (!respelt)
      return buffer;
    return llvm::MemoryBuffer::getMemBufferCopy(*respelt, (*buffer)->getBufferIdentifier());
  }

private:
  std::unique_ptr<llvm::vfs::File> file_;
};

class RespelledFiles : public llvm::vfs::ProxyFileSystem {
public:
  using ProxyFileSystem::ProxyFileSystem;

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override {
    auto file = ProxyFileSystem::openFileForRead(path);
    if (!file)
      return file;
    return std::make_unique<RespelledFile>(std::move(*file));
  }
};

} // namespace

std::optional<std::string> respell(std::string_view original) {
  if (!may_change(original))
    return std::nullopt;
  const std::string before(original);
  const std::vector<Word> words = words_of(before);
  std::string text = before;
  bool changed = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    changed |= align_first(text, words, i) || empty_destructor(text, words, i) ||
               pragma_as_operator(text, words, i) || double_percent(text, words, i) ||
               guide_with_targets(text, words, i);
    changed |= i > 0 && close_launch(text, words[i - 1], words[i]);
  }
  if (!changed)
    return std::nullopt;
  return text;
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> respelled_files() {
  return llvm::makeIntrusiveRefCnt<RespelledFiles>(llvm::vfs::getRealFileSystem());
}

} // namespace warplens::analysis
