// A vector that grows by pages: what it holds never moves, and growing never needs twice the memory.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace holdfast::explore {

template <class T, unsigned PageBits = 16>
class PagedVector {
 public:
  static constexpr std::size_t kPage = std::size_t{1} << PageBits;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t index) { return pages_[index >> PageBits][index & (kPage - 1)]; }
  const T& operator[](std::size_t index) const { return pages_[index >> PageBits][index & (kPage - 1)]; }

  void push(const T& value) {
    resize(size_ + 1);
    (*this)[size_ - 1] = value;
  }
  /// New elements have no defined value; pages that are no longer needed are freed.
  void resize(std::size_t size) {
    const std::size_t pages = (size + kPage - 1) >> PageBits;
    while (pages_.size() < pages) pages_.push_back(std::make_unique_for_overwrite<T[]>(kPage));
    pages_.resize(pages);
    size_ = size;
  }
  void clear() { resize(0); }
  void swap(PagedVector& other) noexcept {
    pages_.swap(other.pages_);
    std::swap(size_, other.size_);
  }
  std::size_t bytes() const { return pages_.size() * kPage * sizeof(T); }

 private:
  std::vector<std::unique_ptr<T[]>> pages_;
  std::size_t size_ = 0;
};

}  // namespace holdfast::explore
