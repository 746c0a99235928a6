// The queue of future events, ordered by (time, tie-break, order of arrival).
//
// Contract: pop() yields events in ascending time. Events of one instant come in an order that the seed alone
// decides, so that different seeds explore different orders and one seed always repeats its own; with
// TieBreak::fifo they come in the order they were pushed. Nothing else (capacity, cancellations, addresses)
// influences the order. In steady state no operation allocates. A queue is copyable when its payload is, and
// the copy continues exactly as the original would.
//
// Layout: a 4-ary implicit heap of 16-byte entries, the four children of a node sharing a cache line, over a
// slab of payloads with a free list. A cancelled event gives up its payload at once and its heap entry when
// it reaches the top, or earlier when the dead outnumber the living.
#pragma once

#include <algorithm>
#include <boost/align/aligned_allocator.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/random.hpp"
#include "sim/time.hpp"
#include "sim/wide_integer.hpp"

namespace holdfast::sim {

/// How events of one instant are ordered.
enum class TieBreak : std::uint8_t {
  seeded,  ///< By a keyed hash of the order of arrival: every order is reachable by some seed.
  fifo,    ///< By the order of arrival.
};

/// Names one pushed event, for cancelling it. A handle whose event was popped or cancelled is stale, and
/// stays so although its slot is used again (until the slot was used 2^32 times).
struct EventHandle {
  std::uint32_t slot = 0xffffffff;
  std::uint32_t generation = 0;

  static constexpr EventHandle none() { return {}; }
  constexpr bool valid() const { return slot != 0xffffffff; }
  friend constexpr bool operator==(EventHandle, EventHandle) = default;
};

/// A priority queue of events carrying a Payload, which must be move-constructible.
template <class Payload>
class EventQueue {
 public:
  /// The most events that can be pending at once, cancelled ones that were not yet removed included.
  static constexpr std::size_t kMaxPending = (std::size_t{1} << 24) - 1;

  struct Popped {
    TrueInstant time;
    Payload payload;
  };

  explicit EventQueue(std::uint64_t seed = 0, TieBreak tieBreak = TieBreak::seeded)
      : seed_(scramble(seed)), tieBreak_(tieBreak) {
    clearHeap();
  }

  /// Adds an event. Throws std::length_error beyond kMaxPending.
  EventHandle push(TrueInstant at, Payload&& payload) { return emplace(at, std::move(payload)); }
  EventHandle push(TrueInstant at, const Payload& payload) { return emplace(at, payload); }

  /// Adds an event whose payload is constructed from `args`.
  template <class... Args>
  EventHandle emplace(TrueInstant at, Args&&... args) {
    return insert(at, arrivalTie(sequence_++), std::forward<Args>(args)...);
  }

  /// Adds an event whose place among those of its instant depends on (seed, key) and not on how many events
  /// were pushed before, so that removing an unrelated event leaves it where it was. With TieBreak::fifo the
  /// key is ignored.
  EventHandle pushKeyed(TrueInstant at, std::uint64_t key, Payload payload) {
    const std::uint64_t arrival = sequence_++;
    const std::uint64_t tie = tieBreak_ == TieBreak::fifo ? arrival & kTieMask : mix(seed_, key) >> kSlotBits;
    return insert(at, tie, std::move(payload));
  }

  /// Takes an event out before its time; false, and no effect, if the handle is stale or none.
  bool cancel(EventHandle handle) {
    if (!pending(handle)) return false;
    Slot& slot = slots_[handle.slot];
    slot.payload.reset();
    ++slot.generation;
    --live_;
    if (topSlot() == handle.slot) {
      dropDeadTops();
    } else if (count_ - live_ > live_ + kCompactionSlack) {
      compact();
    }
    return true;
  }

  /// Whether the handle's event is still in the queue.
  bool pending(EventHandle handle) const {
    return handle.slot < slots_.size() && slots_[handle.slot].generation == handle.generation &&
           slots_[handle.slot].payload.has_value();
  }

  bool empty() const { return live_ == 0; }
  /// Events pushed and neither popped nor cancelled.
  std::size_t size() const { return live_; }
  /// When the next event is due; never() if there is none.
  TrueInstant nextTime() const { return live_ == 0 ? TrueInstant::never() : timeOf(heap_[kRoot].key); }

  /// The payload that pop() would yield. Precondition: !empty().
  const Payload& top() const { return *slots_[topSlot()].payload; }

  /// Removes the next event. Precondition: !empty().
  Popped pop() {
    const std::uint32_t index = topSlot();
    Slot& slot = slots_[index];
    Popped popped{timeOf(heap_[kRoot].key), std::move(*slot.payload)};
    finishPop(index, slot);
    return popped;
  }

  /// Removes the next event, assigns its payload to `out` and returns its time. Precondition: !empty().
  TrueInstant popInto(Payload& out) {
    const std::uint32_t index = topSlot();
    Slot& slot = slots_[index];
    const TrueInstant time = timeOf(heap_[kRoot].key);
    out = std::move(*slot.payload);
    finishPop(index, slot);
    return time;
  }

  /// Removes all events; handles become stale, the order of arrival keeps counting.
  void clear() {
    for (std::size_t i = kRoot; i < kRoot + count_; ++i) retire(slotOf(heap_[i].key));
    live_ = 0;
    clearHeap();
  }

  /// Makes room for `events` pending events, so that reaching that many allocates nothing.
  void reserve(std::size_t events) {
    slots_.reserve(events);
    if (heap_.size() < events + kPadding) heap_.resize(events + kPadding, kSentinel);
  }

  /// Calls visit(time, payload) for every pending event, in no particular order.
  template <class Visitor>
  void forEach(Visitor&& visit) const {
    for (std::size_t i = kRoot; i < kRoot + count_; ++i) {
      const Slot& slot = slots_[slotOf(heap_[i].key)];
      if (slot.payload) visit(timeOf(heap_[i].key), *slot.payload);
    }
  }

 private:
  // An entry is one 128-bit number: the time with its sign bit flipped, 40 bits of tie-break, 24 bits of
  // slot. Comparing it is branch-free. The tie of an arrival is a bijection of its number, so it is unique
  // and the slot never decides.
  struct Entry {
    Uint128 key;
  };

  struct Slot {
    std::optional<Payload> payload;
    std::uint32_t generation = 0;
    std::uint32_t nextFree = kNoSlot;
  };

  static constexpr unsigned kSlotBits = 24;
  static constexpr unsigned kTieBits = 40;
  static constexpr std::uint64_t kTieMask = (std::uint64_t{1} << kTieBits) - 1;
  static constexpr std::uint32_t kNoSlot = 0xffffffff;
  static constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
  static constexpr std::size_t kCompactionSlack = 64;
  // The root sits at index 3, so that the children of i, at 4i-8 ... 4i-5, fill one aligned cache line.
  // Behind the last entry there are always at least four sentinels, larger than any entry: choosing the least
  // of four children then needs no bound check.
  static constexpr std::size_t kRoot = 3;
  static constexpr std::size_t kPadding = kRoot + 5;
  static constexpr Entry kSentinel{~Uint128{0}};

  static constexpr Uint128 makeKey(TrueInstant at, std::uint64_t tie, std::uint32_t slot) {
    const std::uint64_t high = static_cast<std::uint64_t>(at.ns) ^ kSignBit;
    return (static_cast<Uint128>(high) << 64) | (tie << kSlotBits) | slot;
  }
  static constexpr TrueInstant timeOf(Uint128 key) {
    return {static_cast<std::int64_t>(static_cast<std::uint64_t>(key >> 64) ^ kSignBit)};
  }
  static constexpr std::uint32_t slotOf(Uint128 key) {
    return static_cast<std::uint32_t>(key) & ((1U << kSlotBits) - 1);
  }
  std::uint32_t topSlot() const { return slotOf(heap_[kRoot].key); }

  /// The tie-break of the n-th arrival: a seeded bijection of 40-bit numbers.
  std::uint64_t arrivalTie(std::uint64_t n) const {
    if (tieBreak_ == TieBreak::fifo) return n & kTieMask;
    std::uint64_t x = (n + seed_) & kTieMask;
    x = (x * 0x9e3779b97f4a7c15ULL) & kTieMask;
    x ^= x >> 21;
    x ^= (seed_ >> 24);
    x = (x * 0xd6e8feb86659fd93ULL) & kTieMask;
    x ^= x >> 19;
    x = (x * 0xa0761d6478bd642fULL) & kTieMask;
    return x ^ (x >> 22);
  }

  template <class... Args>
  EventHandle insert(TrueInstant at, std::uint64_t tie, Args&&... args) {
    std::uint32_t index = freeHead_;
    if (index != kNoSlot) {
      Slot& slot = slots_[index];
      slot.payload.emplace(std::forward<Args>(args)...);
      freeHead_ = slot.nextFree;
    } else {
      if (slots_.size() >= kMaxPending)
        throw std::length_error("EventQueue: more than 2^24 - 1 pending events");
      // Constructed before the slab grows, because an argument may refer to a payload in it.
      Slot fresh;
      fresh.payload.emplace(std::forward<Args>(args)...);
      index = static_cast<std::uint32_t>(slots_.size());
      slots_.push_back(std::move(fresh));
    }
    const std::size_t end = kRoot + count_;
    if (heap_.size() < end + kPadding) heap_.resize(2 * heap_.size() + kPadding, kSentinel);
    siftUp(end, makeKey(at, tie, index));
    ++count_;
    ++live_;
    return {index, slots_[index].generation};
  }

  void siftUp(std::size_t hole, Uint128 key) {
    Entry* const heap = heap_.data();
    while (hole > kRoot) {
      const std::size_t parent = hole / 4 + 2;
      if (heap[parent].key < key) break;
      heap[hole] = heap[parent];
      hole = parent;
    }
    heap[hole].key = key;
  }

  /// Removes the top entry: the hole sinks to a leaf along the least children, and the last entry, which
  /// almost always belongs near a leaf, is sifted up from there.
  void removeTop() {
    Entry* const heap = heap_.data();
    --count_;
    const std::size_t last = kRoot + count_;
    const Uint128 moved = heap[last].key;
    heap[last] = kSentinel;
    if (count_ == 0) return;
    std::size_t hole = kRoot;
    for (std::size_t child = 4 * kRoot - 8; child < last; child = 4 * hole - 8) {
      const std::size_t left = child + (heap[child + 1].key < heap[child].key ? 1 : 0);
      const std::size_t right = child + 2 + (heap[child + 3].key < heap[child + 2].key ? 1 : 0);
      const std::size_t least = heap[right].key < heap[left].key ? right : left;
      heap[hole] = heap[least];
      hole = least;
    }
    siftUp(hole, moved);
  }

  void finishPop(std::uint32_t index, Slot& slot) {
    slot.payload.reset();
    ++slot.generation;
    slot.nextFree = freeHead_;
    freeHead_ = index;
    --live_;
    removeTop();
    if (count_ != live_) dropDeadTops();
  }

  /// Returns a slot whose heap entry is gone to the free list, dropping its payload if it still has one.
  void retire(std::uint32_t index) {
    Slot& slot = slots_[index];
    if (slot.payload) {
      slot.payload.reset();
      ++slot.generation;
    }
    slot.nextFree = freeHead_;
    freeHead_ = index;
  }

  /// Keeps the invariant that the top entry, if any, is a living event.
  void dropDeadTops() {
    while (count_ != 0 && !slots_[topSlot()].payload) {
      retire(topSlot());
      removeTop();
    }
  }

  /// Removes all dead entries and restores the heap.
  void compact() {
    std::size_t kept = kRoot;
    for (std::size_t i = kRoot; i < kRoot + count_; ++i) {
      const std::uint32_t index = slotOf(heap_[i].key);
      if (slots_[index].payload) {
        heap_[kept++] = heap_[i];
      } else {
        retire(index);
      }
    }
    std::fill(heap_.begin() + static_cast<std::ptrdiff_t>(kept),
              heap_.begin() + static_cast<std::ptrdiff_t>(kRoot + count_), kSentinel);
    // A sorted array is a heap. Compaction is rare enough for the simplest way that is certainly right.
    std::sort(heap_.begin() + kRoot, heap_.begin() + static_cast<std::ptrdiff_t>(kept),
              [](const Entry& a, const Entry& b) { return a.key < b.key; });
    count_ = kept - kRoot;
  }

  void clearHeap() {
    count_ = 0;
    heap_.assign(std::max(heap_.size(), std::size_t{64}), kSentinel);
  }

  std::vector<Entry, boost::alignment::aligned_allocator<Entry, 64>> heap_;
  std::vector<Slot> slots_;
  std::size_t count_ = 0;  // heap entries, dead ones included
  std::size_t live_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t seed_ = 0;
  std::uint32_t freeHead_ = kNoSlot;
  TieBreak tieBreak_ = TieBreak::seeded;
};

}  // namespace holdfast::sim
