// What an interned value is called under each renaming of a symmetric exploration.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

namespace holdfast::explore {

/// Filled in as it is asked for, by any thread: all of them find the same. A copy knows nothing.
class Images {
 public:
  Images() = default;
  explicit Images(std::size_t renamings)
      : slots_(renamings == 0 ? nullptr : std::make_unique<std::atomic<std::uint32_t>[]>(renamings)) {}
  Images(const Images&) {}
  Images(Images&&) = default;
  Images& operator=(const Images&) { return *this; }
  Images& operator=(Images&&) = default;
  ~Images() = default;

  std::optional<std::uint32_t> at(std::size_t renaming) const {
    const std::uint32_t stored = slots_[renaming].load(std::memory_order_acquire);
    return stored == 0 ? std::nullopt : std::optional(stored - 1);
  }
  void set(std::size_t renaming, std::uint32_t image) const {
    slots_[renaming].store(image + 1, std::memory_order_release);
  }

 private:
  std::unique_ptr<std::atomic<std::uint32_t>[]> slots_;
};

}  // namespace holdfast::explore
