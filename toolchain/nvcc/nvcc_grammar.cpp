#include "toolchain/nvcc/nvcc_grammar.h"

#include "support/files.h"
#include "support/process.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

namespace warplens::toolchain {
namespace {

enum class Value {
  none,
  apart,  ///< the value is the next word, or after =
  joined, ///< the next word, after =, or right behind the letter
};

struct Option {
  std::string_view letter, word; ///< the short and the long spelling; empty: none
  OptionKind kind = OptionKind::other;
  Value value = Value::none;
};

// The spellings are those of `nvcc --help` of CUDA 13.0.88, and the undocumented ones that it takes (-Xcudafe
// and its like).
constexpr auto nvcc_options = [] {
  using enum OptionKind;
  constexpr auto apart = Value::apart, joined = Value::joined;
  return std::to_array<Option>({
      {"-I", "--include-path", include_path, joined},
      {"-isystem", "--system-include", system_include_path, apart},
      {"-D", "--define-macro", define, joined},
      {"-U", "--undefine-macro", undefine, joined},
      {"-include", "--pre-include", include_file, apart},
      {"-std", "--std", standard, apart},
      {"-x", "--x", language, apart},
      {"-O", "--optimize", optimisation, joined},
      {"-arch", "--gpu-architecture", architecture, apart},
      {"-gencode", "--generate-code", code_generation, apart},
      {"-use_fast_math", "--use_fast_math", fast_math},
      {"-Xcompiler", "--compiler-options", host_compiler, apart},
      {"-Xlinker", "--linker-options", linker, apart},
      {"-l", "--library", library, joined},
      {"-L", "--library-path", library_path, joined},
      {"-extended-lambda", "--extended-lambda", extended_lambda},
      {"-expt-extended-lambda", "--expt-extended-lambda", extended_lambda},
      {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", relaxed_constexpr},
      {"-G", "--device-debug", device_debug},
      {"-default-stream", "--default-stream", default_stream, apart},
      {"-rdc", "--relocatable-device-code", relocatable, apart},
      {"-o", "--output-file", output, apart},
      {"-odir", "--output-directory", output_directory, apart},
      {"-optf", "--options-file", options_file, apart},
      {"-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler", forward_unknown},
      {"-forward-unknown-to-host-linker", "--forward-unknown-to-host-linker", forward_unknown},
      {"-forward-unknown-opts", "--forward-unknown-opts", forward_unknown},

      {"-c", "--compile", compile},
      {"-dc", "--device-c", compile_relocatable},
      {"-dw", "--device-w", compile_whole},
      {"-link", "--link", link},
      {"-dlink", "--device-link", device_link},
      {"-lib", "--lib", library_archive},
      {"-run", "--run", run},
      {"-cuda", "--cuda", no_object},
      {"-cubin", "--cubin", no_object},
      {"-fatbin", "--fatbin", no_object},
      {"-ptx", "--ptx", no_object},
      {"-optix-ir", "--optix-ir", no_object},
      {"-ltoir", "--ltoir", no_object},
      {"-E", "--preprocess", no_object},
      {"-M", "--generate-dependencies", no_object},
      {"-MM", "--generate-nonsystem-dependencies", no_object},
      {"-MD", "--generate-dependencies-with-compile", dependencies},
      {"-MMD", "--generate-nonsystem-dependencies-with-compile", user_dependencies},
      {"-MF", "--dependency-output", dependency_file, apart},
      {"-MT", "--dependency-target-name", dependency_target, apart},
      {"-MP", "--generate-dependency-targets", dependency_phony},
      {"-dryrun", "--dryrun", no_object},
      {"-clean", "--clean-targets", no_object},
      {"-fdevice-syntax-only", "--fdevice-syntax-only", no_object},
      {"-code-ls", "--list-gpu-code", no_object},
      {"-arch-ls", "--list-gpu-arch", no_object},
      {"-h", "--help", no_object},
      {"-V", "--version", no_object},

      {"-code", "--gpu-code", other, apart},
      {"-e", "--entries", other, apart},
      {"-ccbin", "--compiler-bindir", compiler_binary, apart},
      {"-arbin", "--archiver-binary", other, apart},
      {"-cudart", "--cudart", other, apart},
      {"-cudadevrt", "--cudadevrt", other, apart},
      {"-ldir", "--libdevice-directory", other, apart},
      {"-target-dir", "--target-directory", other, apart},
      {"-opt-info", "--optimization-info", other, apart},
      {"-Ofc", "--Ofast-compile", other, apart},
      {"-dopt", "--dopt", other, apart},
      {"-ftemplate-backtrace-limit", "--ftemplate-backtrace-limit", other, apart},
      {"-ftemplate-depth", "--ftemplate-depth", other, apart},
      {"-m", "--machine", other, apart},
      {"-Xarchive", "--archive-options", other, apart},
      {"-Xptxas", "--ptxas-options", other, apart},
      {"-Xnvlink", "--nvlink-options", other, apart},
      {"-Xcudafe", "--cudafe-options", other, apart},
      {"-Xcicc", "--cicc-options", other, apart},
      {"-Xfatbin", "--fatbin-options", other, apart},
      {"-static-global-template-stub", "--static-global-template-stub", other, apart},
      {"-device-entity-has-hidden-visibility", "--device-entity-has-hidden-visibility", hidden_entities,
       apart},
      {"-t", "--threads", parallelism, joined},
      {"-split-compile", "--split-compile", other, apart},
      {"-split-compile-extended", "--split-compile-extended", other, apart},
      {"-fdevice-time-trace", "--fdevice-time-trace", timing, apart},
      {"-keep-dir", "--keep-dir", keep_directory, apart},
      {"-time", "--time", timing, apart},
      {"-run-args", "--run-args", other, apart},
      {"-idp", "--input-drive-prefix", other, apart},
      {"-ddp", "--dependency-drive-prefix", other, apart},
      {"-dp", "--drive-prefix", other, apart},
      {"-maxrregcount", "--maxrregcount", other, apart},
      {"-ftz", "--ftz", flush_to_zero, apart},
      {"-prec-div", "--prec-div", other, apart},
      {"-prec-sqrt", "--prec-sqrt", other, apart},
      {"-fmad", "--fmad", fused_multiply_add, apart},
      {"-Werror", "--Werror", other, apart},
      {"-diag-error", "--diag-error", other, apart},
      {"-diag-suppress", "--diag-suppress", other, apart},
      {"-diag-warn", "--diag-warn", other, apart},
      {"-hls", "--host-linker-script", other, apart},
      {"-brief-diag", "--brief-diagnostics", other, apart},
      {"-jtd", "--jump-table-density", other, apart},
      {"-device-stack-protector", "--device-stack-protector", other, apart},
      {"-compress-mode", "--compress-mode", other, apart},
      {"-frandom-seed", "--frandom-seed", other, apart},
      {"-sanitize", "--sanitize", other, apart},

      {"-objtemp", "--objdir-as-tempdir"},
      {"-allow-unsupported-compiler", "--allow-unsupported-compiler"},
      {"-use-local-env", "--use-local-env"},
      {"-force-cl-env-setup", "--force-cl-env-setup"},
      {"-pg", "--profile"},
      {"-g", "--debug", host_debug},
      {"-lineinfo", "--generate-line-info"},
      {"-dlto", "--dlink-time-opt"},
      {"-lto", "--lto"},
      {"-gen-opt-lto", "--gen-opt-lto"},
      {"-noeh", "--no-exceptions"},
      {"-shared", "--shared"},
      {"-nohdinitlist", "--no-host-device-initializer-list"},
      {"-nohdmoveforward", "--no-host-device-move-forward"},
      {"-m64", "--m64"},
      {"-noprof", "--dont-use-profile"},
      {"-v", "--verbose", verbose},
      {"-keep", "--keep", keep},
      {"-save-temps", "--save-temps", keep},
      {"", "--no-align-double"},
      {"-nodlink", "--no-device-link"},
      {"-extra-device-vectorization", "--extra-device-vectorization"},
      {"-w", "--disable-warnings"},
      {"-keep-device-functions", "--keep-device-functions"},
      {"-src-in-ptx", "--source-in-ptx"},
      {"-restrict", "--restrict"},
      {"-Wreorder", "--Wreorder"},
      {"-Wdefault-stream-launch", "--Wdefault-stream-launch"},
      {"-Wmissing-launch-bounds", "--Wmissing-launch-bounds"},
      {"-Wext-lambda-captures-this", "--Wext-lambda-captures-this"},
      {"-Wno-deprecated-declarations", "--Wno-deprecated-declarations"},
      {"-Wno-deprecated-gpu-targets", "--Wno-deprecated-gpu-targets"},
      {"-res-usage", "--resource-usage"},
      {"-ewp", "--extensible-whole-program"},
      {"-no-compress", "--no-compress"},
      {"-qpp-config", "--qpp-config"},
      {"-astoolspatch", "--compile-as-tools-patch"},
      {"-err-no", "--display-error-number"},
      {"-no-err-no", "--no-display-error-number"},
      {"-aug-hls", "--augment-host-linker-script"},
      {"-r", "--relocatable-link"},
      {"-reloc-ptx", "--relocatable-ptx"},
      {"-jobserver", "--jobserver"},
  });
}();

struct Match {
  const Option* option;
  std::optional<std::string> value; ///< the value behind the letter or after =
};

/// Finds the longest spelling that fits, so that -lineinfo is not -l ineinfo.
std::optional<Match> match(std::string_view argument) {
  std::optional<Match> best;
  std::size_t length = 0;
  const auto offer = [&](const Option& option, std::string_view spelling, bool may_join) {
    if (spelling.empty() || spelling.size() <= length || !argument.starts_with(spelling))
      return;
    const std::string_view rest = argument.substr(spelling.size());
    if (rest.empty())
      best = Match{&option, std::nullopt};
    else if (option.value != Value::none && rest.starts_with('='))
      best = Match{&option, std::string(rest.substr(1))};
    else if (may_join)
      best = Match{&option, std::string(rest)};
    else
      return;
    length = spelling.size();
  };
  for (const auto& option : nvcc_options) {
    offer(option, option.letter, option.value == Value::joined);
    offer(option, option.word, false);
  }
  return best;
}

Expected<std::vector<std::string>> words_of_files(const std::string& files) {
  std::vector<std::string> words;
  for (const auto& file : split_commas(files)) {
    const auto text = read_file(file);
    if (!text)
      return fail("nvcc argument --options-file: {}", text.error().message);
    TRY_LET(inside, split_words(*text));
    words.insert(words.end(), inside->begin(), inside->end());
  }
  return words;
}

Expected<void> read_into(std::vector<NvccArgument>& result, const std::vector<std::string>& words,
                         int depth) {
  constexpr int deepest = 16; // ends a file that names itself
  if (depth > deepest)
    return fail("nvcc argument --options-file: files name each other without end");
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (!word.starts_with('-') || word == "-") {
      result.push_back({OptionKind::input, word, {word}});
      continue;
    }
    const auto found = match(word);
    if (!found) {
      result.push_back({OptionKind::unknown, word, {word}});
      continue;
    }
    NvccArgument argument{found->option->kind, found->value.value_or(""), {word}};
    if (found->option->value != Value::none && !found->value) {
      if (i + 1 == words.size())
        return fail("nvcc argument '{}' needs a value", word);
      argument.value = words[++i];
      argument.words.push_back(argument.value);
    }
    if (argument.kind != OptionKind::options_file) {
      result.push_back(std::move(argument));
      continue;
    }
    TRY_LET(inside, words_of_files(argument.value));
    TRY(read_into(result, *inside, depth + 1));
  }
  return {};
}

} // namespace

namespace {

std::vector<std::string> split(std::string_view text, bool keeps_quotes) {
  std::vector<std::string> parts{""};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\\' && i + 1 < text.size()) {
      parts.back() += text[++i];
    } else if (text[i] == ',' && !quoted) {
      parts.emplace_back();
    } else {
      quoted ^= text[i] == '"';
      if (text[i] != '"' || keeps_quotes)
        parts.back() += text[i];
    }
  std::erase(parts, "");
  return parts;
}

} // namespace

std::vector<std::string> split_commas(std::string_view text) {
  return split(text, /*keeps_quotes=*/false);
}

std::vector<std::string> split_definitions(std::string_view text) {
  return split(text, /*keeps_quotes=*/true);
}

Expected<std::vector<std::string>> split_compiler_options(std::string_view text) {
  std::string line;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\\' && i + 1 < text.size()) {
      line += text[++i];
    } else {
      quoted ^= text[i] == '"';
      line += text[i] == ',' && !quoted ? ' ' : text[i];
    }
  return split_words(line);
}

Expected<std::vector<NvccArgument>> read_nvcc_arguments(const std::vector<std::string>& words) {
  std::vector<NvccArgument> result;
  TRY(read_into(result, words, 0));
  const auto is = [](OptionKind kind) {
    return [kind](const NvccArgument& argument) { return argument.kind == kind; };
  };
  if (std::ranges::none_of(result, is(OptionKind::forward_unknown)))
    if (const auto first = std::ranges::find_if(result, is(OptionKind::unknown)); first != result.end())
      return fail("nvcc argument '{}' is not one that nvcc 13 has", first->value);
  return result;
}

} // namespace warplens::toolchain
