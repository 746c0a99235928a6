// What waits inside a virtual context: operations, the memory they live in, and what they wait for.
//
// Contract: an Operation is owned by exactly one place at a time (the context's ready queue, or its registry
// of waits) and ends in exactly one call, run(invoke) or run(destroy), which frees it first. Memory comes
// from a pool that the context keeps, so that a wait in steady state takes nothing from the heap.
//
// This header is the bridge's own; a user of the bridge includes virtual_context.hpp, virtual_timer.hpp and
// completion.hpp.
#pragma once

#include <array>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <new>

#include "sim/event_queue.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define HOLDFAST_POOL_PASSES_THROUGH 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOLDFAST_POOL_PASSES_THROUGH 1
#endif
#endif
#ifndef HOLDFAST_POOL_PASSES_THROUGH
#define HOLDFAST_POOL_PASSES_THROUGH 0
#endif

namespace holdfast::sim {

class VirtualContext;

namespace detail {

/// Free lists of small blocks for one context, hence for one thread. Under AddressSanitizer it keeps none, so
/// that a use after free is seen.
class BlockPool {
 public:
  static constexpr std::size_t kGranule = 64;
  static constexpr std::size_t kClasses = 16;

  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool() {
    for (Block* block : free_) {
      while (block != nullptr) {
        Block* const next = block->next;
        ::operator delete(block);
        block = next;
      }
    }
  }

  void* allocate(std::size_t size) {
    const std::size_t index = (size + kGranule - 1) / kGranule;
    if (HOLDFAST_POOL_PASSES_THROUGH != 0 || index >= kClasses) return ::operator new(size);
    if (Block* const block = free_[index]) {
      free_[index] = block->next;
      return block;
    }
    return ::operator new(index * kGranule);
  }

  void deallocate(void* pointer, std::size_t size) noexcept {
    const std::size_t index = (size + kGranule - 1) / kGranule;
    if (HOLDFAST_POOL_PASSES_THROUGH != 0 || index >= kClasses) {
      ::operator delete(pointer);
      return;
    }
    free_[index] = ::new (pointer) Block{free_[index]};
  }

 private:
  struct Block {
    Block* next;
  };
  std::array<Block*, kClasses> free_{};
};

/// The allocator of operations whose handler has none of its own.
template <class T>
class PoolAllocator {
 public:
  using value_type = T;

  explicit PoolAllocator(BlockPool& pool) noexcept : pool_(&pool) {}
  template <class U>
  PoolAllocator(const PoolAllocator<U>& other) noexcept : pool_(other.pool_) {}

  T* allocate(std::size_t n) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "the pool's blocks are aligned as by new");
    return static_cast<T*>(pool_->allocate(n * sizeof(T)));
  }
  void deallocate(T* pointer, std::size_t n) noexcept { pool_->deallocate(pointer, n * sizeof(T)); }

  friend bool operator==(const PoolAllocator& a, const PoolAllocator& b) noexcept {
    return a.pool_ == b.pool_;
  }

 private:
  template <class U>
  friend class PoolAllocator;
  BlockPool* pool_;
};

/// A piece of work. `run` frees the operation and then, for Action::invoke, calls what it carried.
struct Operation {
  enum class Action : std::uint8_t { invoke, destroy };
  using Run = void (*)(Operation*, Action);

  explicit Operation(Run r) : run(r) {}

  Run run;
  Operation* nextReady = nullptr;
};

struct WaitOperation;

/// What several operations may wait for together, in order of arrival: a timer or a completion.
class Waitable {
 public:
  Waitable() = default;
  Waitable(const Waitable&) = delete;
  Waitable& operator=(const Waitable&) = delete;

 protected:
  ~Waitable() = default;

 private:
  friend class holdfast::sim::VirtualContext;
  WaitOperation* first_ = nullptr;
  WaitOperation* last_ = nullptr;

 protected:
  WaitOperation* firstWait() const { return first_; }
};

/// An operation that waits for an instant, for a Waitable, or for whichever comes first.
struct WaitOperation : Operation {
  using Operation::Operation;

  boost::system::error_code result;
  boost::system::error_code onExpiry;  ///< The result if the instant comes first.
  Waitable* owner = nullptr;
  WaitOperation* previous = nullptr;
  WaitOperation* next = nullptr;
  EventHandle expiry;
  std::uint32_t registryIndex = 0;
};

/// A wait that brings a value.
template <class T>
struct ValueWaitOperation : WaitOperation {
  using WaitOperation::WaitOperation;
  T value{};
};

/// Names a wait for as long as it lasts; stale afterwards, whatever its memory is used for then.
struct WaitId {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
};

}  // namespace detail
}  // namespace holdfast::sim
