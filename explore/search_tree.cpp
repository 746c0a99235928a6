#include "explore/search_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ranges>

#include "sim/random.hpp"

namespace holdfast::explore {
namespace {

constexpr std::string_view kMagic = "holdfast-checkpoint";
constexpr int kCheckpointVersion = 3;

/// Writes or reads little-endian words and keeps a checksum of them.
class CheckpointWriter {
 public:
  explicit CheckpointWriter(std::ostream& out) : out_(out) {}
  void word(std::uint64_t value, int bytes) {
    char buffer[8];
    for (int i = 0; i < bytes; ++i) buffer[i] = static_cast<char>(value >> (8 * i) & 0xff);
    out_.write(buffer, bytes);
    sum_ = sim::mix(sum_, value);
  }
  std::uint64_t sum() const { return sum_; }

 private:
  std::ostream& out_;
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
                                                const SearchTree& tree) {
  // Written beside the old one and moved over it, so that a crash in between loses nothing.
  const std::string fresh = file + ".new";
  {
    std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
    out << kMagic << ' ' << kCheckpointVersion << '\n' << identity << '\n';
    CheckpointWriter writer(out);
    writer.word(tree.transitions, 8);
    writer.word(tree.asleep, 8);
    writer.word(tree.digest, 8);
    writer.word(tree.levels.size(), 8);
    for (const std::uint64_t level : tree.levels) writer.word(level, 8);
    writer.word(tree.size(), 8);
    for (std::uint64_t i = 0; i < tree.size(); ++i) {
      writer.word(tree.parents[i], 4);
      writer.word(tree.ordinals[i], 2);
    }
    writer.word(writer.sum(), 8);
    out.flush();
    if (!out.good()) return std::unexpected(fmt::format("the checkpoint could not be written to {}", fresh));
  }
  std::error_code error;
  std::filesystem::rename(fresh, file, error);
  if (error)
    return std::unexpected(fmt::format("{} could not be renamed to {}: {}", fresh, file, error.message()));
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
    return std::unexpected(fmt::format("{} is no checkpoint; expected a file that --checkpoint wrote", file));
  }
  std::string version;
  std::string of;
  std::getline(in, version);
  if (version != fmt::format(" {}", kCheckpointVersion)) {
    return std::unexpected(fmt::format("{} is a checkpoint of another version than {}, which this is", file,
                                       kCheckpointVersion));
  }
  std::getline(in, of);
  if (of != identity) {
    return std::unexpected(fmt::format("{} {}", file, otherSearch(of, identity)));
  }
  const auto damaged = [&] { return std::unexpected(fmt::format("{} is damaged or incomplete", file)); };
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
