#include "explore/workers.hpp"

namespace holdfast::explore {
namespace {

/// Tells the processor that this is a loop that waits.
inline void pauseBriefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Looks for `done()` for some ten microseconds.
template <class Done>
bool comesSoon(const Done& done) {
  constexpr int kLooks = 2000;
  for (int look = 0; look < kLooks; ++look) {
    if (done()) return true;
    pauseBriefly();
  }
  return false;
}

}  // namespace

Workers::Workers(unsigned count) {
  for (unsigned worker = 1; worker < count; ++worker) {
    threads_.emplace_back([this, worker] { serve(worker); });
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    ++round_;
  }
  started_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(const std::function<void(unsigned)>& task) {
  if (threads_.empty()) {
    task(0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    busy_ = static_cast<unsigned>(threads_.size());
    ++round_;
  }
  started_.notify_all();
  task(0);
  const auto finished = [this] { return busy_.load(std::memory_order_acquire) == 0; };
  if (comesSoon(finished)) return;
  std::unique_lock lock(mutex_);
  finished_.wait(lock, finished);
}

void Workers::serve(unsigned worker) {
  for (std::uint64_t done = 0;; ++done) {
    const auto started = [&] { return round_.load(std::memory_order_acquire) != done; };
    if (!comesSoon(started)) {
      std::unique_lock lock(mutex_);
      started_.wait(lock, started);
    }
    if (ending_) return;
    (*task_)(worker);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      {
        const std::lock_guard lock(mutex_);
      }  // whoever has looked in vain sleeps by now
      finished_.notify_one();
    }
  }
}

}  // namespace holdfast::explore
