#include "driver/rpc/json_rpc.h"

#include <fmt/format.h>
#include <ostream>

namespace warplens::driver::rpc {

void Output::result(const Json& id, Json result) {
  write({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void Output::error(const Json& id, int code, const std::string& message) {
  write({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

void Output::method_not_found_error(const Json& id, const std::string& method) {
  error(id, method_not_found,
        fmt::format("there is no method {}",
                    Json(method.substr(0, 60)).dump(-1, ' ', true, Json::error_handler_t::replace)));
}

void Output::request(const Json& id, const std::string& method, Json parameters) {
  Json message{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!parameters.is_null())
    message["params"] = std::move(parameters);
  write(message);
}

void Output::notify(const std::string& method, Json parameters) {
  write({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(parameters)}});
}

void Output::write(const Json& message) {
  const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::lock_guard lock(mutex_);
  if (framing_ == Framing::lines)
    stream_ << text << '\n';
  else
    stream_ << "Content-Length: " << text.size() << "\r\n\r\n" << text;
  stream_ << std::flush;
}

std::optional<Message> parse(std::string_view text, Output& output) {
  bool is_too_deep = false;
  const auto keep = [&is_too_deep](int depth, Json::parse_event_t, Json&) {
    is_too_deep |= depth > max_depth;
    return !is_too_deep;
  };
  const Json json = Json::parse(text, keep, false);
  if (is_too_deep) {
    output.error(nullptr, invalid_request,
                 fmt::format("the message is nested deeper than {} levels", max_depth));
    return std::nullopt;
  }
  if (json.is_discarded()) {
    output.error(nullptr, parse_error, "the message is not JSON");
    return std::nullopt;
  }
  const bool has_id =
      json.is_object() && json.contains("id") && (json["id"].is_string() || json["id"].is_number_integer());
  Message message;
  message.id = has_id ? json["id"] : Json(nullptr);
  const bool is_response = json.is_object() && (json.contains("result") || json.contains("error"));
  const bool is_call = json.is_object() && json.value("jsonrpc", Json()) == "2.0" &&
                       json.contains("method") && json["method"].is_string() &&
                       !json["method"].get_ref<const std::string&>().empty();
  if (!is_call && !is_response) {
    output.error(message.id, invalid_request, "the message is not a request of JSON-RPC 2.0");
    return std::nullopt;
  }
  if (is_call)
    message.method = json["method"].get<std::string>();
  message.failed = json.contains("error");
  message.parameters = json.contains("params") ? json["params"] : Json::object();
  return message;
}

} // namespace warplens::driver::rpc
