// A vector indexed by a dense id that grows when an id is first met. Growth doubles, so that a steady run
// allocates nothing; ids are bounded by the caller (CheckerSet refuses observations with absurd ones).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::checkers {

template <class T>
class FlatTable {
 public:
  /// The row of `index`, made with T's defaults when it is new. References die when a new row is made.
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

}  // namespace holdfast::checkers
