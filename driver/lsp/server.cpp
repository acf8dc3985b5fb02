#include "driver/lsp/server.h"

#include "driver/lsp/documents.h"
#include "driver/lsp/framing.h"
#include "driver/lsp/notes.h"
#include "driver/lsp/patch_edits.h"
#include "driver/lsp/refresher.h"
#include "driver/rpc/json_rpc.h"
#include "driver/stages/read_result.h"
#include "report/brief.h"
#include "report/source_file.h"
#include "support/display_name.h"
#include "support/files.h"
#include "support/line_map.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <optional>
#include <set>

namespace warplens::driver::lsp {
namespace {

using rpc::Json;

// Beside those of JSON-RPC: the protocol's own.
constexpr int server_not_initialized = -32002;

// DiagnosticSeverity, MessageType and TextDocumentSyncKind of the protocol.
constexpr int severity_warning = 2, severity_information = 3;
constexpr int message_error = 1, message_warning = 2;
constexpr int full_documents = 1;

/// Returns the member at a path of names; null if there is none.
Json member(const Json& json, std::initializer_list<const char*> names) {
  const Json* at = &json;
  for (const char* name : names) {
    if (!at->is_object() || !at->contains(name))
      return nullptr;
    at = &(*at)[name];
  }
  return *at;
}

std::optional<std::string> text_member(const Json& json, std::initializer_list<const char*> names) {
  const Json value = member(json, names);
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

std::optional<std::size_t> number_member(const Json& json, std::initializer_list<const char*> names) {
  const Json value = member(json, names);
  return value.is_number_unsigned() ? std::optional(value.get<std::size_t>()) : std::nullopt;
}

/// The lines from `begin` to `end`, both included, from 0 on.
struct Lines {
  std::size_t begin, end;
};

std::optional<Lines> range_member(const Json& parameters) {
  const auto begin = number_member(parameters, {"range", "start", "line"});
  const auto end = number_member(parameters, {"range", "end", "line"});
  return begin && end ? std::optional(Lines{*begin, *end}) : std::nullopt;
}

/// A note at the line, from 0 on, that it is about in the document as it is now.
struct PlacedNote {
  std::size_t line;
  const report::LineNote* note;
};

/// Returns the notes on lines that are as they were.
std::vector<PlacedNote> placed_notes(const Document& document, const FileNotes& file) {
  std::vector<PlacedNote> placed;
  if (file.notes.empty())
    return placed;
  const auto places = unchanged_lines(file.lines, document.lines);
  for (const report::LineNote& note : file.notes)
    if (note.line >= 1 && note.line <= places.size() && places[note.line - 1])
      placed.push_back({*places[note.line - 1], &note});
  return placed;
}

/// A file that someone else writes, read again when it has changed.
class WatchedFile {
public:
  explicit WatchedFile(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  /// Returns the time of its last change, if that is another one than at the last call.
  std::optional<std::filesystem::file_time_type> change() {
    std::error_code problem;
    if (name_.empty())
      return std::nullopt;
    const auto written = std::filesystem::last_write_time(name_, problem);
    if (problem || written == written_)
      return std::nullopt;
    written_ = written;
    return written;
  }

private:
  std::string name_;
  std::optional<std::filesystem::file_time_type> written_;
};

/// The state of a session. The thread that reads messages and the one that profiles take turns at it.
class Server {
public:
  Server(rpc::Output& output, const Settings& settings)
      : output_(output), settings_(settings), notes_(settings.result.empty() ? settings.cache : ""),
        result_(settings.result), advice_(settings.advice) {}

  /// Returns the exit code once the message was the last one.
  std::optional<int> handle(const rpc::Message& message) {
    const std::lock_guard lock(mutex_);
    if (message.method == "exit")
      return is_shut_down_ ? 0 : 1;
    if (message.method.empty())
      take_response(message);
    else if (message.is_request())
      answer(message);
    else if (is_initialized_ && !is_shut_down_)
      take_notification(message.method, message.parameters);
    return std::nullopt;
  }

  /// Says that a profile has begun, where the client shows that.
  void begin(const RefreshJob& job) {
    const std::lock_guard lock(mutex_);
    if (!shows_progress_)
      return;
    running_ = job;
    output_.request(token_of(job.number), "window/workDoneProgress/create",
                    {{"token", token_of(job.number)}});
  }

  void end(const RefreshJob& job, const Expected<Result>* result, std::filesystem::file_time_type began) {
    std::vector<std::string> changed;
    if (result && *result)
      changed = notes_.replace(**result, job.sources, began);
    const std::lock_guard lock(mutex_);
    if (result && !*result)
      log(message_error, fmt::format("{}: {}", job.sources.front(), result->error().message));
    for (const std::string& file : changed)
      log(message_warning, fmt::format("{} changed while it was profiled, and has no hints", file));
    if (has_begun_ && running_ && running_->number == job.number)
      progress(job.number, {{"kind", "end"},
                            {"message", !result   ? "cancelled"
                                        : *result ? "done"
                                                  : "failed: see the log"}});
    running_.reset();
    has_begun_ = false;
    if (result && *result)
      show_notes();
  }

  /// Must be called before the first message.
  void set_refresher(Refresher* refresher) { refresher_ = refresher; }

private:
  // Requests.

  void answer(const rpc::Message& message) {
    const Json& id = message.id;
    if (message.method == "initialize")
      return initialize(id, message.parameters);
    if (!is_initialized_)
      return output_.error(id, server_not_initialized, "the first request is initialize");
    if (is_shut_down_)
      return output_.error(id, rpc::invalid_request, "the server was shut down");
    if (message.method == "shutdown") {
      is_shut_down_ = true;
      return output_.result(id, nullptr);
    }
    using Handler = Json (Server::*)(const Document&, const std::string& uri, const Json&) const;
    constexpr struct {
      std::string_view method;
      Handler handler;
      bool has_range, has_position;
    } requests[] = {{"textDocument/inlayHint", &Server::inlay_hints, true, false},
                    {"textDocument/codeAction", &Server::code_actions, true, false},
                    {"textDocument/hover", &Server::hover, false, true}};
    const auto known =
        std::ranges::find_if(requests, [&](const auto& request) { return request.method == message.method; });
    if (known == std::end(requests))
      return output_.method_not_found_error(id, message.method);
    const auto uri = text_member(message.parameters, {"textDocument", "uri"});
    if (!uri)
      return output_.error(id, rpc::invalid_params, "textDocument.uri is not a string");
    if (known->has_range && !range_member(message.parameters))
      return output_.error(id, rpc::invalid_params, "range has no lines");
    if (known->has_position && !number_member(message.parameters, {"position", "line"}))
      return output_.error(id, rpc::invalid_params, "position has no line");
    const auto document = documents_.find(*uri);
    if (document == documents_.end())
      return output_.error(id, rpc::invalid_params, "the document is not open");
    read_changed_files();
    output_.result(id, (this->*known->handler)(document->second, *uri, message.parameters));
  }

  void initialize(const Json& id, const Json& parameters) {
    if (is_initialized_)
      return output_.error(id, rpc::invalid_request, "the server is initialized already");
    if (!parameters.is_object())
      return output_.error(id, rpc::invalid_params, "the parameters are not an object");
    const Json capabilities = member(parameters, {"capabilities"});
    const Json encodings = member(capabilities, {"general", "positionEncodings"});
    if (encodings.is_array() && std::ranges::find(encodings, Json("utf-8")) != encodings.end())
      encoding_ = Encoding::utf8;
    shows_progress_ = member(capabilities, {"window", "workDoneProgress"}) == true;
    refreshes_hints_ = member(capabilities, {"workspace", "inlayHint", "refreshSupport"}) == true;
    is_initialized_ = true;
    output_.result(
        id,
        {{"capabilities",
          {{"positionEncoding", encoding_ == Encoding::utf8 ? "utf-8" : "utf-16"},
           {"textDocumentSync", {{"openClose", true}, {"change", full_documents}, {"save", Json::object()}}},
           {"inlayHintProvider", true},
           {"hoverProvider", true},
           {"codeActionProvider", {{"codeActionKinds", {code_action_kind}}}}}},
         {"serverInfo", {{"name", "warplens"}, {"version", settings_.version}}}});
    for (const WatchedFile* file : {&result_, &advice_})
      if (std::error_code problem; !file->name().empty() && !std::filesystem::exists(file->name(), problem))
        log(message_warning, fmt::format("{}: there is no such file so far", file->name()));
  }

  Json inlay_hints(const Document& document, const std::string&, const Json& parameters) const {
    const Lines range = *range_member(parameters);
    Json hints = Json::array();
    for (const PlacedNote& placed : notes_on(document))
      if (placed.line >= range.begin && placed.line <= range.end)
        hints.push_back(
            {{"position",
              {{"line", placed.line}, {"character", units_of(document.lines[placed.line], encoding_)}}},
             {"label", placed.note->hint},
             {"paddingLeft", true}});
    return hints;
  }

  Json hover(const Document& document, const std::string&, const Json& parameters) const {
    const std::size_t line = *number_member(parameters, {"position", "line"});
    for (const PlacedNote& placed : notes_on(document))
      if (placed.line == line)
        return {{"contents", {{"kind", "markdown"}, {"value", placed.note->details}}},
                {"range", range_of_line(document, line, encoding_)}};
    return nullptr;
  }

  /// Offers the patches of advice that change lines within the range.
  Json code_actions(const Document& document, const std::string& uri, const Json& parameters) const {
    const Lines range = *range_member(parameters);
    Json actions = Json::array();
    const Json only = member(parameters, {"context", "only"});
    if (only.is_array() && std::ranges::none_of(only, [](const Json& kind) {
          return kind.is_string() &&
                 std::string_view(code_action_kind).starts_with(kind.get_ref<const std::string&>());
        }))
      return actions;
    std::set<std::string> offered; // a patch may be good on several GPUs
    for (const report::Suggestion& suggestion : suggestions_) {
      if (suggestion.patch.empty() || path_of_name(suggestion.file) != document.path)
        continue;
      const auto edits = edits_of(suggestion.patch, document.lines);
      if (!edits || edits->empty() || edits->back().end < range.begin || edits->front().begin > range.end ||
          !offered.insert(suggestion.patch).second)
        continue;
      Json changes = Json::array();
      for (const LineEdit& edit : *edits)
        changes.push_back(text_edit(edit, document));
      Json documents = Json::object();
      documents[uri] = std::move(changes);
      actions.push_back({{"title", fmt::format("{} ({:+.0f} ± {:.0f} % of {} on {})", suggestion.edit,
                                               100 * suggestion.share, 100 * suggestion.half_width,
                                               display_name(suggestion.kernel, 40), suggestion.gpu)},
                         {"kind", code_action_kind},
                         {"edit", {{"changes", std::move(documents)}}}});
    }
    return actions;
  }

  Json text_edit(const LineEdit& edit, const Document& document) const {
    std::string text;
    for (const std::string& line : edit.lines)
      text += line + '\n';
    Json range = range_in_line(edit.begin, 0, 0);
    if (edit.end < document.lines.size()) {
      range["end"]["line"] = edit.end;
    } else if (edit.begin <
               document.lines.size()) { // up to the end of the last line, which stays without one
      range["end"] = range_of_line(document, document.lines.size() - 1, encoding_)["end"];
      if (!text.empty())
        text.pop_back();
    }
    return {{"range", range}, {"newText", text}};
  }

  // Notifications and responses.

  void take_notification(const std::string& method, const Json& parameters) {
    const auto uri = text_member(parameters, {"textDocument", "uri"});
    if (method == "window/workDoneProgress/cancel")
      cancel(member(parameters, {"token"}));
    else if (uri && method == "textDocument/didOpen")
      open(*uri, parameters);
    else if (uri && method == "textDocument/didChange")
      change(*uri, parameters);
    else if (uri && method == "textDocument/didSave")
      save(*uri);
    else if (uri && method == "textDocument/didClose" && documents_.erase(*uri) != 0)
      publish(*uri, Json::array(), std::nullopt);
  }

  void open(const std::string& uri, const Json& parameters) {
    const auto text = text_member(parameters, {"textDocument", "text"});
    if (!text)
      return;
    read_changed_files();
    Document& document = documents_[uri];
    document.path = path_of_uri(uri);
    document.version = version_in(parameters);
    document.lines = report::lines_in(*text);
    publish_findings(uri, document);
  }

  void change(const std::string& uri, const Json& parameters) {
    const auto document = documents_.find(uri);
    const Json changes = member(parameters, {"contentChanges"});
    if (document == documents_.end() || !changes.is_array() || changes.empty())
      return;
    const auto text = text_member(changes.back(), {"text"});
    if (!text || changes.back().contains("range")) // whole documents are what initialize() asked for
      return;
    document->second.version = version_in(parameters);
    document->second.lines = report::lines_in(*text);
    publish_findings(uri, document->second);
  }

  void save(const std::string& uri) {
    const auto document = documents_.find(uri);
    if (document == documents_.end() || document->second.path.empty())
      return;
    read_changed_files();
    if (refresher_ == nullptr)
      return;
    if (const std::vector<std::string> sources = program_of(document->second.path); !sources.empty())
      refresher_->start(sources);
  }

  /// Returns the sources of the program that the file belongs to: those of the command line, those of the
  /// last result that has the file, or the file itself. There are none for a header that no result has.
  std::vector<std::string> program_of(const std::filesystem::path& file) {
    if (!settings_.profile.sources.empty())
      return settings_.profile.sources;
    if (const auto notes = notes_.find(file); notes && !notes->sources.empty())
      return notes->sources;
    return file.extension() == ".cu" ? std::vector{file.string()} : std::vector<std::string>();
  }

  void cancel(const Json& token) {
    if (refresher_ != nullptr && running_ && token == token_of(running_->number))
      refresher_->cancel(running_->number);
  }

  /// Takes the answer to our request for a place to show progress: only then may there be any.
  void take_response(const rpc::Message& message) {
    if (!running_ || message.failed || message.id != token_of(running_->number))
      return;
    has_begun_ = true;
    progress(running_->number,
             {{"kind", "begin"},
              {"title", "warplens"},
              {"cancellable", true},
              {"message", std::filesystem::path(running_->sources.front()).filename().string()}});
  }

  // The views that the client shows.

  std::vector<PlacedNote> notes_on(const Document& document) const {
    const auto file = notes_.find(document.path);
    return file ? placed_notes(document, *file) : std::vector<PlacedNote>();
  }

  void publish_findings(const std::string& uri, const Document& document) {
    Json diagnostics = Json::array();
    for (const PlacedNote& placed : notes_on(document))
      for (const report::LineProblem& problem : placed.note->problems)
        diagnostics.push_back({{"range", range_of(problem, document, placed.line)},
                               {"severity", problem.is_warning ? severity_warning : severity_information},
                               {"code", problem.rule},
                               {"source", "warplens"},
                               {"message", problem.message}});
    publish(uri, std::move(diagnostics), document.version);
  }

  void publish(const std::string& uri, Json diagnostics, std::optional<std::int64_t> version) {
    Json parameters{{"uri", uri}};
    if (version)
      parameters["version"] = *version;
    parameters["diagnostics"] = std::move(diagnostics);
    output_.notify("textDocument/publishDiagnostics", std::move(parameters));
  }

  /// Returns the access's range, or the line's where its place in there is not known.
  Json range_of(const report::LineProblem& problem, const Document& document, std::size_t line) const {
    const std::string_view text = document.lines[line];
    if (problem.column == 0 || problem.column > text.size())
      return range_of_line(document, line, encoding_);
    const std::size_t begin = problem.column - 1;
    return range_in_line(line, units_of(text.substr(0, begin), encoding_),
                         units_of(text.substr(0, begin + problem.bytes), encoding_));
  }

  /// Shows new notes on all open documents.
  void show_notes() {
    for (const auto& [uri, document] : documents_)
      publish_findings(uri, document);
    if (refreshes_hints_)
      output_.request(fmt::format("hints/{}", ++hint_refreshes_), "workspace/inlayHint/refresh", nullptr);
  }

  void progress(std::uint64_t job, Json value) {
    output_.notify("$/progress", {{"token", token_of(job)}, {"value", std::move(value)}});
  }

  void log(int type, const std::string& message) {
    output_.notify("window/logMessage", {{"type", type}, {"message", "warplens: " + message}});
  }

  // Files.

  /// Reads the result and the advice, where there are any, if they have changed.
  void read_changed_files() {
    if (const auto written = result_.change()) {
      if (const auto result = read_result(result_.name())) {
        for (const std::string& file : notes_.replace(*result, {}, *written))
          log(message_warning,
              fmt::format("{} changed after {} was made of it, and has no hints", file, result_.name()));
        show_notes();
      } else {
        log(message_error, result.error().message);
      }
    }
    if (advice_.change()) {
      if (auto suggestions = read_suggestions(advice_.name()))
        suggestions_ = std::move(*suggestions);
      else
        log(message_error, suggestions.error().message);
    }
  }

  static Expected<std::vector<report::Suggestion>> read_suggestions(const std::string& file) {
    TRY_LET(text, read_file(file));
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (json.is_discarded())
      return fail("{}: not JSON: advice is what `warplens advise --format json` writes", file);
    auto suggestions = report::suggestions_from_json(json);
    if (!suggestions)
      return fail("{}: {}", file, suggestions.error().message);
    std::ranges::stable_sort(*suggestions, {}, &report::Suggestion::share);
    return suggestions;
  }

  static std::filesystem::path path_of_name(const std::string& name) {
    std::error_code problem;
    return std::filesystem::weakly_canonical(name, problem);
  }

  static std::int64_t version_in(const Json& parameters) {
    const Json version = member(parameters, {"textDocument", "version"});
    return version.is_number_integer() ? version.get<std::int64_t>() : 0;
  }

  static std::string token_of(std::uint64_t job) { return fmt::format("warplens/{}", job); }

  static constexpr const char* code_action_kind = "refactor.rewrite";

  rpc::Output& output_;
  const Settings& settings_;
  std::mutex mutex_;
  Documents documents_;
  mutable Notes notes_;
  WatchedFile result_, advice_;
  std::vector<report::Suggestion> suggestions_; ///< those with the largest gain first
  Refresher* refresher_ = nullptr;
  std::optional<RefreshJob> running_;
  bool has_begun_ = false; ///< the client shows the progress of `running_`
  std::uint64_t hint_refreshes_ = 0;
  Encoding encoding_ = Encoding::utf16;
  bool is_initialized_ = false, is_shut_down_ = false;
  bool shows_progress_ = false, refreshes_hints_ = false;
};

} // namespace

int serve(std::istream& input, std::ostream& output, const Settings& settings) {
  rpc::Output messages(output, rpc::Framing::content_length);
  Server server(messages, settings);
  std::optional<Refresher> refresher;
  if (settings.profiles) {
    refresher.emplace(
        settings.profile,
        Refresher::Callbacks{[&](const RefreshJob& job) { server.begin(job); },
                             [&](const RefreshJob& job, const Expected<Result>* result,
                                 std::filesystem::file_time_type began) { server.end(job, result, began); }});
    server.set_refresher(&*refresher);
  }
  Input in(input);
  while (const auto content = in.next(messages)) {
    const auto message = rpc::parse(*content, messages);
    if (!message)
      continue;
    if (const auto exit_code = server.handle(*message))
      return *exit_code;
  }
  return 0;
}

} // namespace warplens::driver::lsp
