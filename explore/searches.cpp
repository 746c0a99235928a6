#include "explore/searches.hpp"

#include <fmt/format.h>

#include "explore/depth_first.hpp"
#include "explore/fair_cycles.hpp"

namespace holdfast::explore {

namespace {

/// States were merged in the belief that the protocol treats names alike. Without that nothing is verified.
Result withSymmetryChecked(const World& world, Result result) {
  if (result.verdict == Verdict::verified && !world.whatBreaksSymmetry().empty()) {
    result.verdict = Verdict::incomplete;
    result.cut = Cut::asymmetry;
  }
  return result;
}

}  // namespace

Result breadthFirst(const World& world, Limits limits) {
  return withSymmetryChecked(world, BreadthFirst<World>(world, std::move(limits)).run());
}

std::expected<Result, std::string> breadthFirst(const World& world, Limits limits,
                                                const Checkpoints& checkpoints) {
  const std::string& resumeFrom = checkpoints.resumeFrom;
  std::string identity = identityOf(world.configuration());
  if (limits.reduce) identity += " reduced";
  if (world.symmetries() != 0) identity += " symmetric";
  const std::uint64_t memoryBytes = limits.memoryBytes;
  BreadthFirst<World> search(world, std::move(limits));
  if (!resumeFrom.empty()) {
    auto tree = loadCheckpoint(resumeFrom, identity);
    if (!tree) return std::unexpected(std::move(tree.error()));
    const std::size_t needed = BreadthFirst<World>::bytesToResume(*tree);
    if (memoryBytes != 0 && needed > memoryBytes) {
      return std::unexpected(
          fmt::format("{} holds {} states, for which about {} MiB are needed; expected more memory "
                      "than {} MiB",
                      resumeFrom, tree->size(), (needed >> 20) + 1, memoryBytes >> 20));
    }
    if (!search.resume(*std::move(tree))) {
      return std::unexpected(
          fmt::format("{} was written by another version of the protocol: its steps do "
                      "not lead to the same states here",
                      resumeFrom));
    }
  }
  std::string unsaved;
  const auto save = [&](const SearchTree& tree, std::uint64_t states) {
    const auto saved = saveCheckpoint(checkpoints.file, identity, tree, states);
    unsaved = saved ? "" : saved.error();
  };
  if (!checkpoints.file.empty()) {
    search.keepEvery(checkpoints.every, [&](const SearchTree& tree, std::uint64_t states) {
      save(tree, states);
      if (!unsaved.empty()) checkpoints.failed(unsaved);
    });
  }
  Result result = withSymmetryChecked(world, search.run());
  if (!checkpoints.file.empty() && result.cut != Cut::none) {
    search.keepNow(save);
    result.unsaved = unsaved;
  }
  return result;
}

Result depthFirst(const World& world, Limits limits) {
  return withSymmetryChecked(world, DepthFirst<World>(world, std::move(limits)).run());
}

Result fairCycles(const World& world, Limits limits) {
  return FairCycles<World>(world, std::move(limits)).run();
}

Result walks(const World& world, Limits limits, const WalkOptions& options) {
  return Walks<World>(world, std::move(limits), options).run();
}

}  // namespace holdfast::explore
