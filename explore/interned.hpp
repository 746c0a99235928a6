// Values that are kept once and named by small numbers, so that a state can be a few numbers.
//
// Equality is that of 64-bit hashes. The number that a value gets depends on which thread comes first, so no
// order and no fingerprint may depend on it. A value never moves and is never dropped: a number obtained from
// find() or add() can be looked up without a lock.
#pragma once

#include <array>
#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace holdfast::explore {

/// Of already mixed 64-bit values.
struct PassHash {
  using is_avalanching = void;
  std::size_t operator()(std::uint64_t value) const { return value; }
};

template <class T>
class Interned {
 public:
  Interned() = default;
  Interned(const Interned&) = delete;
  Interned& operator=(const Interned&) = delete;
  ~Interned() {
    for (Stripe& stripe : stripes_) {
      for (std::atomic<T*>& page : stripe.pages) delete[] page.load();
    }
  }

  std::optional<std::uint32_t> find(std::uint64_t hash) {
    Stripe& stripe = stripeOf(hash);
    const std::lock_guard lock(stripe.mutex);
    const auto found = stripe.numbers.find(hash);
    return found == stripe.numbers.end() ? std::nullopt : std::optional(found->second);
  }

  /// The number of the value with this hash, which is made by `make()` unless it is there.
  template <class Make>
  std::uint32_t add(std::uint64_t hash, Make&& make) {
    Stripe& stripe = stripeOf(hash);
    const std::lock_guard lock(stripe.mutex);
    const auto [place, fresh] = stripe.numbers.try_emplace(hash, 0);
    if (!fresh) return place->second;
    const std::size_t index = stripe.size++;
    std::atomic<T*>& page = stripe.pages.at(index / kPage);
    if (page.load(std::memory_order_relaxed) == nullptr)
      page.store(new T[kPage](), std::memory_order_release);
    page.load(std::memory_order_relaxed)[index % kPage] = make();
    const std::size_t number = index * kStripes + static_cast<std::size_t>(&stripe - stripes_.data());
    place->second = static_cast<std::uint32_t>(number);
    count_.fetch_add(1, std::memory_order_relaxed);
    return place->second;
  }

  const T& operator[](std::uint32_t number) const {
    const std::size_t index = number / kStripes;
    return stripes_[number % kStripes].pages[index / kPage].load(std::memory_order_acquire)[index % kPage];
  }

  /// The numbers of all values, also of those that are added meanwhile by the visitor itself. No other thread
  /// may add any.
  template <class Visit>
  void each(const Visit& visit) const {
    std::array<std::size_t, kStripes> next{};
    for (std::size_t visited = 0; visited < size();) {
      for (std::size_t stripe = 0; stripe < kStripes; ++stripe) {
        while (next[stripe] < stripes_[stripe].size) {
          visit(static_cast<std::uint32_t>(next[stripe]++ * kStripes + stripe));
          ++visited;
        }
      }
    }
  }

  std::size_t size() const { return count_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kStripes = 16;
  static constexpr std::size_t kPage = 256;
  static constexpr std::size_t kPages = 1U << 14;  // 64 Mi values in all

  struct Stripe {
    std::mutex mutex;
    boost::unordered_flat_map<std::uint64_t, std::uint32_t, PassHash> numbers;
    std::size_t size = 0;
    std::array<std::atomic<T*>, kPages> pages{};
  };
  Stripe& stripeOf(std::uint64_t hash) { return stripes_[hash >> 60]; }

  std::array<Stripe, kStripes> stripes_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace holdfast::explore
