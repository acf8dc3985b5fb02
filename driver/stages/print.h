// Stage: result → what the person or tool asked for, where they asked for it.
#pragma once

#include "driver/options.h"
#include "report/report.h"
#include "result/result.h"
#include "support/expected.h"

#include <filesystem>
#include <string>

namespace warplens::driver {

/// To stdout, or to the file of -o (written whole or not at all). `label` is what a page calls the result.
Expected<void> print(const Result& result, const std::string& label, const OutputOptions& options);
/// A page that compares the two, before and after.
Expected<void> print_comparison(const std::vector<report::LabelledResult>& results,
                                const OutputOptions& options);
/// How text is to look: colours and width as the terminal takes them, if it goes to one.
report::TextOptions text_options(const OutputOptions& output);
/// Is everything there that the format takes? Said before the work, not after.
Expected<void> check_format(Format format);
/// Could the file be created or overwritten? It is left as it is. An empty name stands for stdout.
Expected<void> check_writable(const std::filesystem::path& file);
Expected<void> print_text(const std::string& text, const std::string& file);

} // namespace warplens::driver
