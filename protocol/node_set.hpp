// A set of nodes: a bit a node, inline for up to 128 nodes.
#pragma once

#include <bit>
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>

#include "sim/ids.hpp"

namespace holdfast::protocol {

class NodeSet {
 public:
  void insert(sim::NodeId node) {
    const std::size_t word = node.value / 64U;
    if (word >= words_.size()) words_.resize(word + 1, 0);
    words_[word] |= std::uint64_t{1} << (node.value % 64U);
  }

  bool contains(sim::NodeId node) const {
    const std::size_t word = node.value / 64U;
    return word < words_.size() && (words_[word] >> (node.value % 64U) & 1U) != 0;
  }

  std::size_t size() const {
    std::size_t count = 0;
    for (const std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
    return count;
  }

  void clear() { words_.assign(words_.size(), 0); }

  template <class Hash>
  void addTo(Hash& hash) const {
    hash.addRange(words_);
  }

 private:
  boost::container::small_vector<std::uint64_t, 2> words_;
};

}  // namespace holdfast::protocol
