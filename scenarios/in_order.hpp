// Pieces of work done on several threads, whose products are taken in order.
//
// Contract: the work of each index is begun once, the smaller index first, and products are taken in the
// order of the indices, so that whoever takes them sees the same for any number of threads. The work is
// called from several threads at once; what it throws is thrown again by take() when its turn comes. After
// stop() nothing more is begun, and what was begun can still be taken.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <expected>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::scenarios {

template <class Product>
class InOrder {
 public:
  using Clock = std::chrono::steady_clock;
  using Work = std::function<Product(std::size_t worker, std::uint64_t index)>;

  /// Begins the work of 0 to count - 1. `jobs`: threads; 0 counts as 1. `work` must be callable as long as
  /// the object lives.
  InOrder(std::uint64_t count, unsigned jobs, Work work) : count_(count), work_(std::move(work)) {
    const std::uint64_t threads = std::min<std::uint64_t>(std::max(1U, jobs), count);
    for (std::size_t worker = 0; worker < threads; ++worker) {
      workers_.emplace_back([this, worker] { serve(worker); });
    }
  }

  /// Waits for what was begun.
  ~InOrder() { stop(); }
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;

  /// The next product in order; nothing when it is not there until then, or when there is none any more.
  std::optional<Product> take(Clock::time_point until) {
    std::unique_lock lock(mutex_);
    arrived_.wait_until(lock, until, [&] { return done_.contains(taken_) || nothingLeft(); });
    auto next = done_.extract(taken_);
    if (next.empty()) return std::nullopt;
    ++taken_;
    room_.notify_all();
    if (!next.mapped()) std::rethrow_exception(next.mapped().error());
    return *std::move(next.mapped());
  }

  /// How many products were taken.
  std::uint64_t taken() const {
    const std::lock_guard lock(mutex_);
    return taken_;
  }

  /// Whether take() has no more to give.
  bool exhausted() const {
    const std::lock_guard lock(mutex_);
    return nothingLeft();
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    room_.notify_all();
  }

 private:
  // How far ahead of the oldest unfinished piece workers may be, so that products do not pile up.
  static constexpr std::uint64_t kLookahead = 256;

  bool nothingLeft() const { return taken_ == (stopped_ ? next_ : count_); }

  /// A worker's life: takes the next index, does its work, hands the product over.
  void serve(std::size_t worker) {
    for (;;) {
      std::uint64_t index = 0;
      {
        std::unique_lock lock(mutex_);
        room_.wait(lock, [&] { return stopped_ || next_ == count_ || next_ < taken_ + kLookahead; });
        if (stopped_ || next_ == count_) return;
        index = next_++;
      }
      std::expected<Product, std::exception_ptr> product = produce(worker, index);
      const std::lock_guard lock(mutex_);
      done_.emplace(index, std::move(product));
      arrived_.notify_one();
    }
  }

  std::expected<Product, std::exception_ptr> produce(std::size_t worker, std::uint64_t index) {
    try {
      return work_(worker, index);
    } catch (...) {
      return std::unexpected(std::current_exception());
    }
  }

  const std::uint64_t count_;
  const Work work_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable arrived_;
  std::map<std::uint64_t, std::expected<Product, std::exception_ptr>> done_;
  std::uint64_t next_ = 0;
  std::uint64_t taken_ = 0;
  bool stopped_ = false;
  std::vector<std::jthread> workers_;  // last, so that they end before what they use
};

}  // namespace holdfast::scenarios
