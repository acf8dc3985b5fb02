#include "import/database.h"

#include <sqlite3.h>

namespace warplens::import {
namespace {

/// Steps of SQLite's machine between two calls of take_steps().
constexpr int steps_per_call = 1000;
/// A row of a table takes some 30 steps, and a dozen bytes at least.
constexpr std::uint64_t steps_per_byte = 64, steps_at_least = 10'000'000;

/// Ends the query once no steps are left.
int take_steps(void* left) {
  auto& steps = *static_cast<std::uint64_t*>(left);
  if (steps == 0)
    return 1;
  --steps;
  return 0;
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

/// The places in the header that say how the file is written and read: 1 is by a journal, 2 by a log beside
/// the file (WAL), which bytes in memory do not have.
constexpr std::size_t write_version = 18, read_version = 19, header_bytes = 100;

} // namespace

std::optional<std::int64_t> DatabaseRow::integer(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_INTEGER)
    return std::nullopt;
  return sqlite3_column_int64(statement_, column);
}

std::optional<std::string> DatabaseRow::text(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_TEXT)
    return std::nullopt;
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr)
    return std::nullopt;
  return std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

Error Database::error() const {
  if (*steps_left_ == 0)
    return {"the database is damaged: it has more rows than its size allows"};
  return {fmt::format("the database cannot be read: {}", sqlite3_errmsg(database_.get()))};
}

Expected<Database> Database::open(std::string_view bytes) {
  if (bytes.size() < header_bytes)
    return fail("the database is cut short: {} bytes", bytes.size());
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database database(opened);
  database.size_ = bytes.size();
  if (code != SQLITE_OK)
    return fail("SQLite cannot open a database in memory: {}", sqlite3_errstr(code));
  database.steps_left_ =
      std::make_unique<std::uint64_t>((steps_at_least + steps_per_byte * bytes.size()) / steps_per_call);
  if (bytes[write_version] == 2 || bytes[read_version] == 2) {
    database.header_changed_ = std::make_unique<std::string>(bytes);
    (*database.header_changed_)[write_version] = (*database.header_changed_)[read_version] = 1;
    bytes = *database.header_changed_;
  }
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_progress_handler(opened, steps_per_call, take_steps, database.steps_left_.get());
  // The flag keeps SQLite from writing to the bytes, so the cast takes nothing from them.
  auto* const data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  if (sqlite3_deserialize(opened, "main", data, size, size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
    return tl::unexpected(database.error());
  // A database whose schema cannot be read seems to have no tables otherwise.
  TRY(database.for_each_row("SELECT count(*) FROM sqlite_master",
                            [](const DatabaseRow&) -> Expected<void> { return {}; }));
  return database;
}

bool Database::has_column(const std::string& table, const std::string& column) const {
  return sqlite3_table_column_metadata(database_.get(), "main", table.c_str(), column.c_str(), nullptr,
                                       nullptr, nullptr, nullptr, nullptr) == SQLITE_OK;
}

Expected<void> Database::for_each_row(const std::string& query,
                                      const std::function<Expected<void>(const DatabaseRow& row)>& visit) {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &prepared, nullptr) != SQLITE_OK)
    return tl::unexpected(error());
  const Statement statement(prepared);
  while (true) {
    const int code = sqlite3_step(statement.get());
    if (code == SQLITE_DONE)
      return {};
    if (code != SQLITE_ROW)
      return tl::unexpected(error());
    TRY(visit(DatabaseRow(statement.get())));
  }
}

} // namespace warplens::import
