// Files of JSON: read with the place of what is wrong, written whole.
//
// Contract: no content makes reading crash, and an error names file, line and column. A file that is written
// appears under its name complete or not at all, also when several processes write it at a time.
#pragma once

#include <expected>
#include <filesystem>
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

/// Writes a new file. One that exists is replaced only if `replace` says so; a device or pipe is written to.
std::expected<void, Failure> writeNewFile(const std::filesystem::path& path, std::string_view text,
                                          bool replace = false);

/// Where a part of what `path` is to hold is kept until it is whole; "" beside a device or a pipe, or for "".
std::string partialOf(const std::string& path);

/// Whether a file of this name can be made or replaced, as far as that shows before it is: its folder exists
/// and may be written to, and it is no folder itself.
std::expected<void, Failure> checkWritable(const std::filesystem::path& path);

}  // namespace holdfast::cli
