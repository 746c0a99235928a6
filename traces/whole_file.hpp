// A file that appears under its name complete or not at all: everything that the project writes, but for what
// is added to line by line, goes through here.
//
// Contract: what is written goes to a file beside it first, and gets the name once it is whole and on the
// disk. A link keeps its name: what it leads to gets the new content. A device or a pipe is written to and
// never replaced, whatever is said of files that exist. What a process that was killed has left beside a file
// is removed by the next that writes it.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::traces {

struct WriteError {
  std::string what;
};

/// What happens to a file that has the name already.
enum class IfExists : std::uint8_t { refuse, replace };

/// What stays of a file that does not become whole.
enum class Leftover : std::uint8_t {
  nothing,
  partial,  ///< FILE.partial. A second writer of the name is refused meanwhile, unless it may replace.
};

/// Where the text for `path` ends up: what a link leads to, whether or not that exists yet; else `path`. Too
/// long a chain of links, or a circle, is followed for some steps only.
std::filesystem::path behindLinks(const std::filesystem::path& path);

/// Removes what processes that were killed have left in `folder` of files that they wrote, and nothing that
/// somebody still writes. `name`: of one file alone, or of its FILE.partial; "" for all.
void removeLeftovers(const std::filesystem::path& folder, std::string_view name = "");

class WholeFile {
 public:
  /// Begins a file; nothing has its name before finish().
  static std::expected<WholeFile, WriteError> create(const std::filesystem::path& path, IfExists ifExists,
                                                     Leftover leftover);
  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&&) = delete;
  /// Closes what was not finished, and removes it unless it is to stay.
  ~WholeFile();

  /// Appends; why it could not, or nothing.
  std::optional<WriteError> write(std::string_view text);

  /// Gives the file its name. Nothing may be written afterwards.
  std::optional<WriteError> finish();

 private:
  WholeFile(std::filesystem::path path, std::filesystem::path beside, IfExists ifExists, Leftover leftover,
            int descriptor);
  std::optional<WriteError> name();
  const std::filesystem::path& written() const { return beside_.empty() ? path_ : beside_; }

  std::filesystem::path path_;
  std::filesystem::path beside_;  ///< Empty: `path_` is a device or a pipe, and gets the text itself.
  IfExists ifExists_;
  Leftover leftover_;
  int descriptor_;
};

/// Writes the whole of `text`; nothing stays of a file that could not be written.
std::expected<void, WriteError> writeWholeFile(const std::filesystem::path& path, std::string_view text,
                                               IfExists ifExists);

}  // namespace holdfast::traces
