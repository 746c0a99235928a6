// The values of a NodeTable under renamings, without a look inside them.
//
// A node is what a step has made of an earlier node, so under a renaming it is what the renamed step makes of
// the earlier node's image; an input is what a step has sent, so its image is what the renamed step sends the
// same way; and the inputs that no step has sent are renamed by whoever made them. Images are thus computed
// by the protocol's own code, and nothing needs to know where in a node a name occurs.
//
// That takes for granted that the protocol treats names alike: that it decides nothing by comparing them, for
// one. whatBreaks() verifies it: of every step that was computed, the image must be the step of the images.
// If so, the renaming maps the whole graph of steps onto itself, and what was taken for equal is equal.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "explore/node_table.hpp"
#include "explore/renaming.hpp"

namespace holdfast::explore {

class Mirror {
 public:
  /// `table` and `cast` must outlive the mirror; the table was told of as many renamings.
  Mirror(NodeTable& table, const Cast& cast, std::vector<Renaming> renamings)
      : table_(table), cast_(cast), renamings_(std::move(renamings)) {}

  std::size_t size() const { return renamings_.size(); }
  const Renaming& names(std::size_t which) const { return renamings_[which]; }

  /// Says what an item that no step sends is called.
  void setItem(std::size_t which, std::uint32_t item, std::uint32_t image) const {
    table_.item(item).images.set(which, image);
  }

  // The numbers of the images under one of the renamings. By several threads at once.
  std::uint32_t node(std::size_t which, std::uint32_t number) const;
  std::uint32_t item(std::size_t which, std::uint32_t number) const;
  std::uint32_t durable(std::size_t which, std::uint32_t number) const;

  /// The first thing found that a node renamed in one of these ways does otherwise, as a sentence; empty:
  /// there is none. Not while another thread uses the table.
  std::string whatBreaks(const std::vector<std::size_t>& ways) const;

 private:
  std::uint32_t makeItem(std::size_t which, std::uint32_t number) const;
  std::string compareCrash(std::size_t which, const Crash& crash) const;
  std::string compare(std::size_t which, const LocalStep& step) const;

  NodeTable& table_;
  const Cast& cast_;
  std::vector<Renaming> renamings_;
  mutable std::atomic<std::uint32_t> broken_ =
      0;  // a bit for each renaming under which something has no image
};

}  // namespace holdfast::explore
