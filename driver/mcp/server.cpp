#include "driver/mcp/server.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <istream>
#include <memory>
#include <mutex>
#include <ostream>
#include <thread>

namespace warplens::driver::mcp {
namespace {

using Json = nlohmann::ordered_json;

// JSON-RPC 2.0, section 5.1.
constexpr int parse_error = -32700, invalid_request = -32600, method_not_found = -32601,
              invalid_params = -32602;

/// No client nests deeper; a copy of a message descends as deep as it is nested.
constexpr int max_depth = 100;

// The revisions whose messages we speak, the newest first.
constexpr std::string_view protocol_versions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};

/// Writes whole messages, from several threads.
class Output {
public:
  explicit Output(std::ostream& stream) : stream_(stream) {}

  void result(const Json& id, Json result) {
    write({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
  }

  void error(const Json& id, int code, const std::string& message) {
    write({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}});
  }

private:
  void write(const Json& message) {
    const std::lock_guard lock(mutex_);
    stream_ << message.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
  }

  std::mutex mutex_;
  std::ostream& stream_;
};

struct Call {
  Json id;
  const Tool* tool;
  nlohmann::json arguments;
  std::shared_ptr<Cancellation> cancellation = std::make_shared<Cancellation>();
  bool is_cancelled = false;
};

/// Runs calls in the order in which they came, in a thread of its own. The destructor waits for all.
class Worker {
public:
  explicit Worker(Output& output) : output_(output), thread_([this] { work(); }) {}

  ~Worker() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void add(Call call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    changed_.notify_all();
  }

  /// Ends a call, which then gets no answer, as the protocol has it.
  void cancel(const Json& id) {
    const std::lock_guard lock(mutex_);
    for (Call& call : calls_)
      if (call.id == id) {
        call.is_cancelled = true;
        call.cancellation->cancel();
      }
  }

private:
  void work() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [this] { return is_ending_ || !calls_.empty(); });
      if (calls_.empty())
        return;
      const Call call = calls_.front(); // it stays in the list while it runs, so that it can be cancelled
      lock.unlock();
      const auto answer = call.tool->call(call.arguments, *call.cancellation);
      lock.lock();
      const bool is_cancelled = calls_.front().is_cancelled;
      calls_.pop_front();
      if (!is_cancelled)
        output_.result(call.id, result_of(answer));
    }
  }

  /// A tool's own error is a result, so that the agent reads it.
  static Json result_of(const Expected<Answer>& answer) {
    const std::string& text = answer ? answer->text : answer.error().message;
    Json result = {{"content", Json::array({{{"type", "text"}, {"text", text}}})}};
    if (answer && !answer->data.is_null())
      result["structuredContent"] = answer->data;
    result["isError"] = !answer.has_value();
    return result;
  }

  Output& output_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Call> calls_;
  bool is_ending_ = false;
  std::thread thread_;
};

class Server {
public:
  Server(Output& output, const std::string& version, const std::vector<Tool>& tools)
      : output_(output), worker_(output), version_(version), tools_(tools) {}

  void handle(const std::string& line) {
    bool is_too_deep = false;
    const auto keep = [&is_too_deep](int depth, Json::parse_event_t, Json&) {
      is_too_deep |= depth > max_depth;
      return !is_too_deep;
    };
    const Json message = Json::parse(line, keep, false);
    if (is_too_deep)
      return output_.error(nullptr, invalid_request,
                           fmt::format("the message is nested deeper than {} levels", max_depth));
    if (message.is_discarded())
      return output_.error(nullptr, parse_error, "the line is not JSON");
    const bool has_id = message.is_object() && message.contains("id") &&
                        (message["id"].is_string() || message["id"].is_number_integer());
    const Json id = has_id ? message["id"] : Json(nullptr);
    if (!message.is_object() || message.value("jsonrpc", Json()) != "2.0" || !message.contains("method") ||
        !message["method"].is_string()) {
      if (!message.is_object() ||
          !(message.contains("result") || message.contains("error"))) // of a request of ours
        output_.error(id, invalid_request, "the message is not a request of JSON-RPC 2.0");
      return;
    }
    const Json parameters = message.contains("params") ? message["params"] : Json::object();
    const auto method = message["method"].get<std::string>();
    if (has_id)
      return request(id, method, parameters);
    if (method == "notifications/cancelled" && parameters.is_object() && parameters.contains("requestId"))
      worker_.cancel(parameters["requestId"]);
  }

private:
  void request(const Json& id, const std::string& method, const Json& parameters) {
    if (method == "initialize")
      return output_.result(id, initialize(parameters));
    if (method == "ping")
      return output_.result(id, Json::object());
    if (method == "tools/list")
      return output_.result(id, {{"tools", tools()}});
    if (method == "tools/call")
      return call(id, parameters);
    output_.error(
        id, method_not_found,
        fmt::format("there is no method {}",
                    Json(method.substr(0, 60)).dump(-1, ' ', true, Json::error_handler_t::replace)));
  }

  /// Answers with the client's revision if we speak it, else with our newest.
  Json initialize(const Json& parameters) const {
    const Json wanted = parameters.is_object() && parameters.contains("protocolVersion")
                            ? parameters["protocolVersion"]
                            : Json();
    const auto known =
        std::ranges::find_if(protocol_versions, [&](std::string_view one) { return wanted == one; });
    return {{"protocolVersion", known == std::end(protocol_versions) ? protocol_versions[0] : *known},
            {"capabilities", {{"tools", Json::object()}}},
            {"serverInfo", {{"name", "warplens"}, {"version", version_}}},
            {"instructions", "Warplens models the memory hierarchy of NVIDIA GPUs and needs none: profile a "
                             "CUDA source, explain its "
                             "costly lines, change it, then compare both versions. Times are modelled; each "
                             "says how far off its GPU's "
                             "model was on measured kernels."}};
  }

  Json tools() const {
    Json list = Json::array();
    for (const Tool& tool : tools_)
      list.push_back(
          {{"name", tool.name}, {"description", tool.description}, {"inputSchema", tool.input_schema}});
    return list;
  }

  void call(const Json& id, const Json& parameters) {
    const Json name = parameters.is_object() && parameters.contains("name") ? parameters["name"] : Json();
    const auto tool = std::ranges::find_if(tools_, [&](const Tool& one) { return name == one.name; });
    if (tool == tools_.end())
      return output_.error(id, invalid_params, "there is no tool of that name: see tools/list");
    Json arguments = parameters.contains("arguments") ? parameters["arguments"] : Json::object();
    if (!arguments.is_object())
      return output_.error(id, invalid_params, "a tool's arguments are an object");
    worker_.add({id, &*tool, nlohmann::json(std::move(arguments))});
  }

  Output& output_;
  Worker worker_;
  const std::string& version_;
  const std::vector<Tool>& tools_;
};

} // namespace

void serve(std::istream& input, std::ostream& output, const std::string& version,
           const std::vector<Tool>& tools) {
  Output messages(output);
  Server server(messages, version, tools);
  for (std::string line; std::getline(input, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      server.handle(line);
}

} // namespace warplens::driver::mcp
