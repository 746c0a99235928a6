#include "explore/search_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ranges>
#include <string_view>
#include <system_error>
#include <utility>

#include "sim/random.hpp"

namespace holdfast::explore {
namespace {

constexpr std::string_view kMagic = "holdfast-checkpoint";
constexpr int kCheckpointVersion = 3;

/// A file that gets its name when it is whole and on the disk. The first thing that goes wrong is kept, and
/// nothing is done any more.
class NewFile {
 public:
  explicit NewFile(const std::string& name) : name_(name), partial_(name + ".new") {
    descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("written", errno);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  void write(std::string_view bytes) {
    while (wrong_.empty() && !bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        fail("written", errno);
      }
    }
  }

  /// Why there is no such file; "" if there is.
  std::string finish() {
    // Some file systems cannot sync, and say EINVAL.
    if (wrong_.empty() && ::fsync(descriptor_) != 0 && errno != EINVAL) fail("written", errno);
    if (descriptor_ >= 0 && ::close(std::exchange(descriptor_, -1)) != 0) fail("written", errno);
    if (wrong_.empty() && ::rename(partial_.c_str(), name_.c_str()) != 0) fail("renamed", errno);
    return wrong_;
  }

 private:
  void fail(std::string_view what, int error) {
    if (!wrong_.empty()) return;
    wrong_ = fmt::format("the checkpoint {} could not be {}: {}", partial_, what,
                         std::generic_category().message(error));
  }

  std::string name_;
  std::string partial_;
  int descriptor_ = -1;
  std::string wrong_;
};

/// Writes or reads little-endian words and keeps a checksum of them.
class CheckpointWriter {
 public:
  explicit CheckpointWriter(NewFile& out) : out_(out) {}
  ~CheckpointWriter() { out_.write(buffer_); }
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  void word(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) buffer_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    sum_ = sim::mix(sum_, value);
    if (buffer_.size() < kBuffered) return;
    out_.write(buffer_);
    buffer_.clear();
  }
  std::uint64_t sum() const { return sum_; }

 private:
  static constexpr std::size_t kBuffered = std::size_t{1} << 18;
  NewFile& out_;
  std::string buffer_;
  std::uint64_t sum_ = 0;
};

class CheckpointReader {
 public:
  explicit CheckpointReader(std::istream& in) : in_(in) {}
  std::uint64_t word(int bytes) {
    unsigned char buffer[8] = {};
    in_.read(reinterpret_cast<char*>(buffer), bytes);
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= std::uint64_t{buffer[i]} << (8 * i);
    sum_ = sim::mix(sum_, value);
    return value;
  }
  bool good() const { return in_.good(); }
  std::uint64_t sum() const { return sum_; }

 private:
  std::istream& in_;
  std::uint64_t sum_ = 0;
};

/// Reads no more than tells: a device may have no end of a first line.
bool beginsAsCheckpoint(std::istream& in) {
  std::array<char, kMagic.size()> found{};
  in.read(found.data(), found.size());
  return in.good() && std::string_view(found.data(), found.size()) == kMagic;
}

std::vector<std::string_view> wordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  for (const auto word : std::views::split(text, ' ')) words.emplace_back(word.begin(), word.end());
  if (words.empty()) words.emplace_back();
  return words;
}

/// What `words` has and `others` lacks, between quotes.
std::string onlyIn(const std::vector<std::string_view>& words, const std::vector<std::string_view>& others) {
  std::vector<std::string_view> own;
  std::ranges::copy_if(words, std::back_inserter(own), [&](std::string_view word) {
    return std::ranges::find(others, word) == others.end();
  });
  return own.empty() ? "nothing" : fmt::format("'{}'", fmt::join(own, " "));
}

/// How the search that a checkpoint belongs to differs from the one that would go on: by its name, which is
/// the first word of an identity, or by the settings behind it.
std::string otherSearch(std::string_view found, std::string_view wanted) {
  const std::vector<std::string_view> there = wordsOf(found);
  const std::vector<std::string_view> here = wordsOf(wanted);
  if (there.front() != here.front()) {
    return fmt::format("belongs to the search '{}', and this one is '{}'", there.front(), here.front());
  }
  return fmt::format("belongs to a search '{}' of other settings: {} there, {} here", there.front(),
                     onlyIn(there, here), onlyIn(here, there));
}

}  // namespace

std::vector<std::uint16_t> SearchTree::pathTo(std::uint64_t index) const {
  std::vector<std::uint16_t> path;
  for (; index != 0; index = parents[index]) path.push_back(ordinals[index]);
  std::reverse(path.begin(), path.end());
  return path;
}

std::expected<void, std::string> saveCheckpoint(const std::string& file, const std::string& identity,
                                                const SearchTree& tree, std::uint64_t states) {
  NewFile out(file);
  out.write(fmt::format("{} {}\n{}\n", kMagic, kCheckpointVersion, identity));
  {
    CheckpointWriter writer(out);
    writer.word(tree.transitions, 8);
    writer.word(tree.asleep, 8);
    writer.word(tree.digest, 8);
    writer.word(tree.levels.size(), 8);
    for (const std::uint64_t level : tree.levels) writer.word(level, 8);
    writer.word(states, 8);
    for (std::uint64_t i = 0; i < states; ++i) {
      writer.word(tree.parents[i], 4);
      writer.word(tree.ordinals[i], 2);
    }
    writer.word(writer.sum(), 8);
  }
  std::string wrong = out.finish();
  if (!wrong.empty()) return std::unexpected(std::move(wrong));
  return {};
}

bool isCheckpoint(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return in && beginsAsCheckpoint(in);
}

std::expected<SearchTree, std::string> loadCheckpoint(const std::string& file, const std::string& identity) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::unexpected(fmt::format("there is no checkpoint that can be read at {}", file));
  if (!beginsAsCheckpoint(in)) {
    return std::unexpected(
        fmt::format("{}:1:1: is no checkpoint; expected a file that --checkpoint wrote", file));
  }
  std::string version;
  std::string of;
  std::getline(in, version);
  if (version != fmt::format(" {}", kCheckpointVersion)) {
    return std::unexpected(
        fmt::format("{}:1:{}: is of another version; expected {}, which is what this build reads", file,
                    kMagic.size() + 2, kCheckpointVersion));
  }
  std::getline(in, of);
  if (of != identity) {
    return std::unexpected(fmt::format("{}:2:1: {}", file, otherSearch(of, identity)));
  }
  const auto damaged = [&] {
    return std::unexpected(
        fmt::format("{}:3:1: is damaged or incomplete; expected what --checkpoint wrote", file));
  };
  SearchTree tree;
  CheckpointReader reader(in);
  tree.transitions = reader.word(8);
  tree.asleep = reader.word(8);
  tree.digest = reader.word(8);
  const std::uint64_t levels = reader.word(8);
  if (levels == 0 || levels > UINT32_MAX) return damaged();
  for (std::uint64_t i = 0; i < levels && reader.good(); ++i) tree.levels.push_back(reader.word(8));
  const std::uint64_t size = reader.word(8);
  for (std::uint64_t i = 0; i < size && reader.good(); ++i) {
    tree.parents.push(static_cast<std::uint32_t>(reader.word(4)));
    tree.ordinals.push(static_cast<std::uint16_t>(reader.word(2)));
    if (i > 0 && tree.parents[i] >= i) return damaged();
  }
  const std::uint64_t sum = reader.sum();
  if (!reader.good() || reader.word(8) != sum || !reader.good()) return damaged();
  if (in.peek() != std::ifstream::traits_type::eof()) return damaged();
  const bool ordered = std::is_sorted(tree.levels.begin(), tree.levels.end());
  if (!ordered || tree.levels.front() != 0 || tree.levels.back() >= size) return damaged();
  return tree;
}

}  // namespace holdfast::explore
