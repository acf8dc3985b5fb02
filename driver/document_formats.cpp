#include "driver/document_formats.h"

#include "driver/help/groups.h"
#include "driver/stages/print.h"

#include <algorithm>

namespace warplens::driver {
namespace {

/// Returns the documents' formats with those of the command in their places, and then its further ones.
std::vector<OwnFormat> all_formats(const std::vector<OwnFormat>& own) {
  std::vector<OwnFormat> all;
  for (const document::Format& format : document::formats)
    all.push_back({format.name, format.help});
  for (const OwnFormat& format : own)
    if (const auto same = std::ranges::find(all, format.name, &OwnFormat::name); same != all.end())
      *same = format;
    else
      all.push_back(format);
  return all;
}

} // namespace

void add_format_option(CLI::App& command, std::string& format, const std::vector<OwnFormat>& own) {
  const help::GroupScope group(command, help::printed_group);
  std::vector<std::string> names;
  std::string description;
  for (const OwnFormat& one : all_formats(own)) {
    names.emplace_back(one.name);
    description += fmt::format("{}{}{}", description.empty() ? "" : ", ", one.name,
                               one.help.empty() ? "" : fmt::format(" ({})", one.help));
  }
  command.add_option("--format", format, description)
      ->check(CLI::IsMember(std::move(names)))
      ->option_text("FORMAT=text");
}

void add_document_options(CLI::App& command, std::string& format, OutputOptions& output,
                          const std::vector<OwnFormat>& own) {
  add_format_option(command, format, own);
  const help::GroupScope group(command, help::printed_group);
  command.add_option("-o,--output", output.file, "write to a file instead of stdout")->type_name("FILE");
}

Expected<void> print_document(const document::Document& document, const std::vector<OwnPrinter>& own,
                              const std::string& format, const OutputOptions& output, std::size_t max_lines) {
  if (const auto found = std::ranges::find(own, format, &OwnPrinter::format); found != own.end()) {
    TRY_LET(text, found->print());
    return print_text(*text, output.file);
  }
  const report::TextOptions look = text_options(output);
  const auto* const found = std::ranges::find(document::formats, format, &document::Format::name);
  return print_text(found->print(document, {look.colour, look.width, max_lines}), output.file);
}

Expected<void> print_document(const document::Document& document, const std::string& format,
                              const OutputOptions& output) {
  return print_document(document, std::vector<OwnPrinter>(), format, output);
}

Expected<void> print_document(const document::Document& document, const std::function<std::string()>& json,
                              const std::string& format, const OutputOptions& output) {
  return print_document(document, {{"json", json}}, format, output);
}

Expected<void> print_study(const document::Document& document, const std::function<std::string()>& json,
                           const std::string& format, const OutputOptions& output) {
  return format == "html" ? print_report(json(), format, output)
                          : print_document(document, json, format, output);
}

} // namespace warplens::driver
