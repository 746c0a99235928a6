// A few threads that do one thing together and wait for each other.
//
// run(task) calls task(worker) once for each worker and returns when all have; worker 0 is the caller. With
// one worker there is no thread and no lock. Whoever waits looks for a moment before it sleeps: tasks of a
// search are shorter than it takes to be woken up.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast::explore {

class Workers {
 public:
  explicit Workers(unsigned count);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  unsigned count() const { return static_cast<unsigned>(threads_.size()) + 1; }
  void run(const std::function<void(unsigned)>& task);

 private:
  void serve(unsigned worker);

  std::vector<std::thread> threads_;
  std::mutex mutex_;  // taken to sleep and to wake sleepers
  std::condition_variable started_;
  std::condition_variable finished_;
  const std::function<void(unsigned)>* task_ = nullptr;
  std::atomic<bool> ending_ = false;
  alignas(64) std::atomic<std::uint64_t> round_ = 0;  // counts the tasks; the end is one more
  alignas(64) std::atomic<unsigned> busy_ = 0;
};

}  // namespace holdfast::explore
