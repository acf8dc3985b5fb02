// A database of SQLite that someone else wrote, read from memory.
#pragma once

#include "support/expected.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace warplens::import {

/// The row that a query is at. A column that has another type than is asked for is none.
class DatabaseRow {
public:
  explicit DatabaseRow(sqlite3_stmt* statement) : statement_(statement) {}

  std::optional<std::int64_t> integer(int column) const;
  std::optional<std::string> text(int column) const;

private:
  sqlite3_stmt* statement_;
};

/// A database in memory that may be damaged, or made to do harm: only its tables are read (views and
/// triggers are not), and a query ends with an error after as many steps as no table of the file's size
/// takes, since pages that form a cycle have rows without end.
class Database {
public:
  /// Opens the bytes, which have to outlive the database.
  static Expected<Database> open(std::string_view bytes);

  /// Returns the size of the file, in bytes.
  std::size_t size() const { return size_; }

  /// Returns whether there is a table of this name with this column.
  bool has_column(const std::string& table, const std::string& column) const;

  /// Calls `visit` for each row that the query returns, until it returns an error.
  Expected<void> for_each_row(const std::string& query,
                              const std::function<Expected<void>(const DatabaseRow& row)>& visit);

private:
  struct Close {
    void operator()(sqlite3* database) const;
  };

  explicit Database(sqlite3* database) : database_(database) {}

  Error error() const;

  std::size_t size_ = 0; ///< in bytes
  std::unique_ptr<sqlite3, Close> database_;
  std::unique_ptr<std::string> header_changed_; ///< the bytes, where they had to be changed
  std::unique_ptr<std::uint64_t> steps_left_;   ///< of all queries, in thousands
};

} // namespace warplens::import
