// A few threads that do one thing together and wait for each other.
//
// run(task) calls task(worker) once for each worker and returns when all have; worker 0 is the caller. With
// one worker there is no thread and no lock.
#pragma once

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
  std::mutex mutex_;
  std::condition_variable started_;
  std::condition_variable finished_;
  const std::function<void(unsigned)>* task_ = nullptr;
  std::uint64_t round_ = 0;
  unsigned busy_ = 0;
  bool ending_ = false;
};

}  // namespace holdfast::explore
