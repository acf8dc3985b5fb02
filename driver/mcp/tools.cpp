#include "driver/mcp/tools.h"

#include "driver/stages/profile_in_child.h"
#include "report/brief.h"
#include "report/brief_difference.h"
#include "report/line_text.h"
#include "result/result.h"
#include "support/terminal_text.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace warplens::driver::mcp {
namespace {

using Json = nlohmann::ordered_json;

/// A profile that a client asks for, and the time after which it is ended.
struct TimedRequest {
  ProfileRequest profile;
  std::uint64_t seconds = 600;
};

/// Reads a call's arguments; the first fault is the error.
class Arguments {
public:
  explicit Arguments(const nlohmann::json& json) : json_(json) {}

  bool has(const char* name) const { return json_.contains(name) && !json_[name].is_null(); }

  void read(const char* name, std::string& target) {
    if (!has(name))
      return;
    if (!json_[name].is_string())
      return reject(name, "a string");
    target = json_[name].get<std::string>();
  }

  void read(const char* name, std::uint64_t& target, std::uint64_t most) {
    if (!has(name))
      return;
    if (!json_[name].is_number_integer() || json_[name].get<std::int64_t>() < 1 ||
        json_[name].get<std::int64_t>() > std::int64_t(most))
      return reject(name, fmt::format("a whole number from 1 to {}", most));
    target = json_[name].get<std::uint64_t>();
  }

  /// Reads an array of strings, or a single one.
  void read(const char* name, std::vector<std::string>& target) {
    if (!has(name))
      return;
    if (json_[name].is_string())
      target = {json_[name].get<std::string>()};
    else if (json_[name].is_array() &&
             std::ranges::all_of(json_[name], [](const auto& item) { return item.is_string(); }))
      target = json_[name].get<std::vector<std::string>>();
    else
      reject(name, "an array of strings");
  }

  void require(const char* name) {
    if (!has(name) && !error_)
      error_ = Error{fmt::format("the argument {} is missing", name)};
  }

  Expected<void> finish() const {
    if (error_)
      return tl::unexpected(*error_);
    return {};
  }

private:
  void reject(const char* name, std::string_view what) {
    if (!error_)
      error_ = Error{fmt::format("the argument {} is not {}", name, what)};
  }

  const nlohmann::json& json_;
  std::optional<Error> error_;
};

void read_request(Arguments& arguments, TimedRequest& request) {
  arguments.read("gpu", request.profile.gpu);
  arguments.read("nvcc", request.profile.nvcc);
  arguments.read("kernel", request.profile.kernel);
  arguments.read("run", request.profile.program_arguments);
  arguments.read("timeout_seconds", request.seconds, 86400);
}

/// Cancels after a time, unless it is destroyed before.
class Deadline {
public:
  Deadline(std::chrono::seconds after, Cancellation& cancellation)
      : thread_([this, after, &cancellation] {
          std::unique_lock lock(mutex_);
          if (!ended_.wait_for(lock, after, [this] { return is_over_; })) {
            has_passed_ = true;
            cancellation.cancel();
          }
        }) {}
  ~Deadline() { stop(); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  /// Returns whether the time passed.
  bool stop() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    ended_.notify_all();
    if (thread_.joinable())
      thread_.join();
    return has_passed_;
  }

private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false, has_passed_ = false;
  std::thread thread_;
};

/// Profiles, unless that takes too long.
Expected<Result> profile(const TimedRequest& request, Cancellation& cancellation) {
  Deadline deadline(std::chrono::seconds(request.seconds), cancellation);
  auto result = profile_in_child(request.profile, cancellation);
  if (deadline.stop())
    return fail("it was ended after {} s: give smaller inputs, a --kernel, or a longer timeout_seconds",
                request.seconds);
  return result;
}

/// The results of a session, by the names that tools call them.
class Results {
public:
  std::string add(Result result) {
    std::string name = fmt::format("result-{}", results_.size() + 1);
    results_.emplace(name, std::move(result));
    return name;
  }

  const Result* find(const std::string& name) const {
    const auto found = results_.find(name);
    return found == results_.end() ? nullptr : &found->second;
  }

private:
  std::map<std::string, Result> results_;
};

Json brief_as_data(const Result& result) {
  return Json::parse(report::print_brief_json(result, {}));
}

Expected<Answer> profile_tool(const nlohmann::json& json, Cancellation& cancellation, Results& results) {
  Arguments arguments(json);
  TimedRequest request;
  arguments.require("sources");
  arguments.read("sources", request.profile.sources);
  read_request(arguments, request);
  TRY(arguments.finish());
  TRY_LET(result, profile(request, cancellation));
  const std::string text = report::print_brief_text(*result, {});
  Json data = {{"result", ""}, {"brief", brief_as_data(*result)}};
  data["result"] = results.add(std::move(*result));
  return Answer{fmt::format("{} holds this profile, for explain_line and compare.\n{}",
                            data["result"].get<std::string>(), text),
                data};
}

Expected<Answer> explain_tool(const nlohmann::json& json, const Results& results) {
  Arguments arguments(json);
  std::string name, file;
  std::uint64_t line = 0;
  for (const char* required : {"result", "line"})
    arguments.require(required);
  arguments.read("result", name);
  arguments.read("file", file);
  arguments.read("line", line, UINT32_MAX);
  TRY(arguments.finish());
  const Result* result = results.find(name);
  if (result == nullptr)
    return fail("there is no {}: profile names its results", printable(name));
  TRY_LET(text, report::explain_line(*result, file, std::uint32_t(line)));
  return Answer{*text};
}

/// Returns the result of that name, or profiles the source of that name.
Expected<const Result*> result_or_source(const std::string& name, TimedRequest request,
                                         Cancellation& cancellation, Results& results,
                                         std::string& result_name) {
  result_name = name;
  if (const Result* result = results.find(name))
    return result;
  request.profile.sources = {name};
  TRY_LET(result, profile(request, cancellation));
  result_name = results.add(std::move(*result));
  return results.find(result_name);
}

Expected<Answer> compare_tool(const nlohmann::json& json, Cancellation& cancellation, Results& results) {
  Arguments arguments(json);
  TimedRequest request;
  std::string before, after, before_result, after_result;
  for (const char* required : {"before", "after"})
    arguments.require(required);
  arguments.read("before", before);
  arguments.read("after", after);
  read_request(arguments, request);
  TRY(arguments.finish());
  TRY_LET(old, result_or_source(before, request, cancellation, results, before_result));
  TRY_LET(now, result_or_source(after, request, cancellation, results, after_result));
  const judge::Difference difference = judge::compare(**old, **now, {});
  if (difference.kernels.empty())
    return fail("they have no kernel in common: kernels correspond by name and GPU");
  const judge::SpeedComparison speed = compare_speed(**old, **now, difference, judge::default_tolerance);
  Json data = {{"before", before_result}, {"after", after_result}, {"verdict", text_of(speed.verdict)}};
  return Answer{fmt::format("{} and {} hold the profiles.\n{}", before_result, after_result,
                            report::print_brief_difference(difference, speed)),
                data};
}

Json property(const char* type, const char* description) {
  return {{"type", type}, {"description", description}};
}

Json texts(const char* description) {
  return {{"type", "array"}, {"items", {{"type", "string"}}}, {"description", description}};
}

/// Returns the arguments that profile and compare share.
Json profile_properties() {
  return {
      {"gpu",
       property("string", "the GPU to model, or several with commas: a100, h100-sxm, v100, …; default a100")},
      {"nvcc", property("string", "nvcc's options, such as -O3 -Iinclude -std=c++17")},
      {"run",
       texts(
           "the program's arguments; small inputs are enough, as the snapshot is a part of a launch anyway")},
      {"kernel", property("string", "a regular expression: only kernels whose name matches")},
      {"timeout_seconds", property("integer", "after which it is ended; default 600")}};
}

Json object_schema(Json properties, Json required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

} // namespace

std::vector<Tool> make_tools() {
  const auto results = std::make_shared<Results>();
  Json for_profile = {{"sources", texts("the program's CUDA and C++ sources")}};
  for_profile.update(profile_properties());
  Json for_compare = {{"before", property("string", "a source, or the name of a result")},
                      {"after", property("string", "a source, or the name of a result")}};
  for_compare.update(profile_properties());
  return {
      {"profile",
       "Compiles a CUDA program with probes, runs it on the CPU (no GPU needed) and models the GPU's memory "
       "hierarchy: per "
       "kernel its time with its interval, what limits it, the costliest lines and what is wrong with them, "
       "in 2 KB.",
       object_schema(for_profile, {"sources"}),
       [results](const nlohmann::json& arguments, Cancellation& cancellation) {
         return profile_tool(arguments, cancellation, *results);
       }},
      {"explain_line",
       "Explains one line of a profiled program: for each access its hit rates, latency, sectors and lanes, "
       "what is wrong "
       "with it, its part in the kernel's time, and why warps stall there.",
       object_schema(
           {{"result", property("string", "the name of a result, which profile or compare gave")},
            {"file", property("string", "the source file; default: whichever has accesses on that line")},
            {"line", property("integer", "the line, from 1")}},
           {"result", "line"}),
       [results](const nlohmann::json& arguments, Cancellation&) {
         return explain_tool(arguments, *results);
       }},
      {"compare",
       "Says whether the second of two versions of a program is faster, slower or the same, with a 95 % "
       "interval, per kernel "
       "and in total, and what changed on which line. Both are modelled with the same random numbers.",
       object_schema(for_compare, {"before", "after"}),
       [results](const nlohmann::json& arguments, Cancellation& cancellation) {
         return compare_tool(arguments, cancellation, *results);
       }},
  };
}

} // namespace warplens::driver::mcp
