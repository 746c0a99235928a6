#include "explore/workers.hpp"

namespace holdfast::explore {

Workers::Workers(unsigned count) {
  for (unsigned worker = 1; worker < count; ++worker) {
    threads_.emplace_back([this, worker] { serve(worker); });
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
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
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return busy_ == 0; });
}

void Workers::serve(unsigned worker) {
  std::uint64_t done = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    started_.wait(lock, [&] { return ending_ || round_ != done; });
    if (ending_) return;
    done = round_;
    const std::function<void(unsigned)>& task = *task_;
    lock.unlock();
    task(worker);
    lock.lock();
    if (--busy_ == 0) finished_.notify_one();
  }
}

}  // namespace holdfast::explore
