#include "driver/mcp/server.h"

#include "driver/rpc/json_rpc.h"
#include "driver/stages/profile_in_child.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <istream>
#include <memory>
#include <mutex>
#include <thread>

namespace warplens::driver::mcp {
namespace {

using rpc::Json;
using rpc::Output;

// The revisions whose messages we speak, the newest first.
constexpr std::string_view protocol_versions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};

struct Call {
  Json id;
  const Tool* tool;
  nlohmann::json arguments;
  std::shared_ptr<Cancellation> cancellation = std::make_shared<Cancellation>(grace_of_profile);
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
    const auto message = rpc::parse(line, output_);
    if (!message)
      return;
    const Json& parameters = message->parameters;
    if (message->is_request())
      return request(message->id, message->method, parameters);
    if (message->method == "notifications/cancelled" && parameters.is_object() &&
        parameters.contains("requestId"))
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
    output_.method_not_found_error(id, method);
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
      return output_.error(id, rpc::invalid_params, "there is no tool of that name: see tools/list");
    Json arguments = parameters.contains("arguments") ? parameters["arguments"] : Json::object();
    if (!arguments.is_object())
      return output_.error(id, rpc::invalid_params, "a tool's arguments are an object");
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
  Output messages(output, rpc::Framing::lines);
  Server server(messages, version, tools);
  for (std::string line; std::getline(input, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      server.handle(line);
}

} // namespace warplens::driver::mcp
