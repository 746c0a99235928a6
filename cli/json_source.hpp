// Files of JSON, read with the place of what is wrong.
//
// Contract: no content makes reading crash, and an error names file, line and column.
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "cli/output.hpp"

namespace holdfast::cli {

/// The text of a file and its name.
class JsonSource {
 public:
  JsonSource(std::string text, std::string name) : text_(std::move(text)), name_(std::move(name)) {}
  /// `expected` says in errors what kind of file it should have been: "a plan file".
  static std::expected<JsonSource, Failure> read(const std::string& path, std::string_view expected);

  const std::string& text() const { return text_; }
  const std::string& name() const { return name_; }

  std::expected<nlohmann::json, Failure> parsed() const;

  /// A failure at byte `column` (from 1) of the text.
  Failure at(std::size_t column, const std::string& what) const;
  /// A failure about the member whose path `path` begins with: "options.nodes is 9 ...".
  Failure about(std::string_view path, const std::string& what) const;

 private:
  std::string text_;
  std::string name_;
};

}  // namespace holdfast::cli
