// The tree that a breadth-first search grows: for each visited state its parent and the choice that led from
// there, in the order of discovery, 6 bytes a state. A path is read off backwards.
//
// The tree is also all that a checkpoint holds: states and fingerprints are made again from it by taking each
// choice once, which costs one step a state instead of one for each of its choices.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "explore/paged_vector.hpp"

namespace holdfast::explore {

struct SearchTree {
  PagedVector<std::uint32_t> parents;
  PagedVector<std::uint16_t> ordinals;
  std::vector<std::uint64_t> levels;  ///< Where each complete level begins; the last one is to be expanded.
  std::uint64_t transitions = 0;      ///< Taken from all levels before the last one.
  std::uint64_t asleep = 0;           ///< Left out there by reduction.
  std::uint64_t digest = 0;           ///< Exclusive or of the fingerprints of all complete levels.

  std::size_t size() const { return parents.size(); }
  std::size_t bytes() const { return parents.bytes() + ordinals.bytes(); }
  /// The ordinals from the initial state to `index`.
  std::vector<std::uint16_t> pathTo(std::uint64_t index) const;
};

/// Writes the first `states` of the tree, which are its complete levels. The file takes the place of an
/// earlier one once it is whole and on the disk: whatever happens meanwhile, there is the one or the other.
/// `identity` names model, bounds and rules: a checkpoint fits no other search. The error says what could not
/// be written.
std::expected<void, std::string> saveCheckpoint(const std::string& file, const std::string& identity,
                                                const SearchTree& tree, std::uint64_t states);

/// Whether there is a file that begins as a checkpoint of any version does.
bool isCheckpoint(const std::string& file);

/// The error says what is wrong with the file: missing, of another version, of another search, damaged.
std::expected<SearchTree, std::string> loadCheckpoint(const std::string& file, const std::string& identity);

}  // namespace holdfast::explore
