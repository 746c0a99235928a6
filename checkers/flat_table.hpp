// Tables indexed by dense ids that grow when an id is first met.
//
// Growth is geometric, so that a steady run allocates nothing; ids are bounded by the caller (CheckerSet
// refuses observations with absurd ones). References into a table die when a new row is made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "observations/types.hpp"

namespace holdfast::checkers {

template <class T>
class FlatTable {
 public:
  /// The row of `index`, made with T's defaults when it is new.
  T& at(std::size_t index) {
    if (index >= rows_.size()) grow(index);
    return rows_[index];
  }
  /// The row of `index`, or null when there is none.
  const T* find(std::size_t index) const { return index < rows_.size() ? &rows_[index] : nullptr; }
  T* find(std::size_t index) { return index < rows_.size() ? &rows_[index] : nullptr; }

  const T& operator[](std::size_t index) const { return rows_[index]; }
  T& operator[](std::size_t index) { return rows_[index]; }
  std::size_t size() const { return rows_.size(); }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }
  auto begin() { return rows_.begin(); }
  auto end() { return rows_.end(); }

 private:
  void grow(std::size_t index) {
    if (index >= rows_.capacity()) rows_.reserve(index + index / 2 + 8);
    rows_.resize(index + 1);
  }

  std::vector<T> rows_;
};

/// A row of cells, one a node, for each key (or for each node: a matrix of links). All rows have the same
/// width, which doubles when a node beyond it is met.
template <class T>
class NodeMatrix {
 public:
  T& at(std::size_t row, obs::NodeId node) {
    if (node.value >= width_) widen(node.value);
    if (row >= rows_) {
      rows_ = row + 1;
      if (rows_ * width_ > cells_.capacity()) cells_.reserve((rows_ + rows_ / 2 + 4) * width_);
      cells_.resize(rows_ * width_);
    }
    return cells_[row * width_ + node.value];
  }
  const T* find(std::size_t row, obs::NodeId node) const {
    return row < rows_ && node.value < width_ ? &cells_[row * width_ + node.value] : nullptr;
  }
  T* find(std::size_t row, obs::NodeId node) {
    return row < rows_ && node.value < width_ ? &cells_[row * width_ + node.value] : nullptr;
  }
  /// How many nodes each row has room for.
  std::uint16_t width() const { return static_cast<std::uint16_t>(width_); }
  std::size_t rows() const { return rows_; }

 private:
  void widen(std::size_t node) {
    const std::size_t wider = std::max<std::size_t>({node + 1, width_ * 2, 4});
    std::vector<T> cells(rows_ * wider);
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t i = 0; i < width_; ++i) cells[row * wider + i] = std::move(cells_[row * width_ + i]);
    }
    cells_ = std::move(cells);
    width_ = wider;
  }

  std::vector<T> cells_;
  std::size_t rows_ = 0;
  std::size_t width_ = 0;
};

}  // namespace holdfast::checkers
