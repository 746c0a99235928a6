// The first of many that has a property, looked for on several threads.
//
// Contract: the result is the smallest index for which the predicate holds, whatever the number of threads:
// an index is passed over only when a smaller one holds. The predicate is called from several threads at
// once. An exception of the predicate is thrown again here once all threads have ended.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace holdfast::shrink {

/// Of 0 to count - 1. `jobs`: threads, this one among them; 0 counts as 1.
template <class Predicate>
std::optional<std::size_t> firstOf(std::size_t count, unsigned jobs, Predicate&& holds) {
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> first = count;
  std::exception_ptr failure;
  std::mutex failureMutex;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < first.load(); i = next++) {
        if (!holds(i)) continue;
        std::size_t known = first.load();
        while (i < known && !first.compare_exchange_weak(known, i)) {
        }
      }
    } catch (...) {
      const std::lock_guard lock(failureMutex);
      failure = std::current_exception();
      first = 0;
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < jobs && i < count; ++i) helpers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  const std::size_t found = first.load();
  return found < count ? std::optional(found) : std::nullopt;
}

}  // namespace holdfast::shrink
