// An allocator for large tables that are read at random places: it asks for huge pages, so that a look-up
// does not also miss the translation of its address. Where the system has none, nothing else changes.
#pragma once

#include <cstddef>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace holdfast::explore {

template <class T>
struct HugePages {
  using value_type = T;

  static constexpr std::size_t kHugePage = std::size_t{2} << 20;

  HugePages() = default;
  template <class U>
  HugePages(const HugePages<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kHugePage) return static_cast<T*>(::operator new(bytes));
    void* memory = ::operator new(bytes, std::align_val_t{kHugePage});
#if defined(__linux__)
    madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: whether it is granted does not matter to us
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kHugePage) {
      ::operator delete(memory);
    } else {
      ::operator delete(memory, std::align_val_t{kHugePage});
    }
  }
  friend bool operator==(const HugePages&, const HugePages&) { return true; }
};

}  // namespace holdfast::explore
