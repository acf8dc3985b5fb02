// JSON-RPC 2.0 over a pair of streams, for servers that a client starts.
#pragma once

#include <iosfwd>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace warplens::driver::rpc {

using Json = nlohmann::ordered_json;

/// The errors of JSON-RPC 2.0, section 5.1.
inline constexpr int parse_error = -32700, invalid_request = -32600, method_not_found = -32601,
                     invalid_params = -32602;

/// No client nests deeper; a copy of a message descends as deep as it is nested.
inline constexpr int max_depth = 100;

/// How the stream tells one message from the next: a line for each, or a header with the content's length.
enum class Framing { lines, content_length };

/// Writes whole messages, from several threads.
class Output {
public:
  Output(std::ostream& stream, Framing framing) : stream_(stream), framing_(framing) {}

  void result(const Json& id, Json result);
  void error(const Json& id, int code, const std::string& message);
  void method_not_found_error(const Json& id, const std::string& method);
  /// Sends a request; one whose parameters are null has none.
  void request(const Json& id, const std::string& method, Json parameters);
  void notify(const std::string& method, Json parameters);

private:
  void write(const Json& message);

  std::mutex mutex_;
  std::ostream& stream_;
  Framing framing_;
};

/// A message of the client: a request, a notification, or the response to a request of ours.
struct Message {
  Json id;             ///< null: a notification
  std::string method;  ///< empty: a response
  Json parameters;     ///< an empty object where the message has none
  bool failed = false; ///< the response is an error

  bool is_request() const { return !id.is_null() && !method.empty(); }
};

/// Reads a message. Nothing is returned for what is none; its sender has its answer then.
std::optional<Message> parse(std::string_view text, Output& output);

} // namespace warplens::driver::rpc
