// A one-shot result that the event loop brings and a coroutine awaits.
//
// Contract: complete() stores a value once; a wait takes it out, whichever comes first. A wait ends with
//   - no error and the value,
//   - operation_aborted, if it was cancelled (cancel(), its cancellation slot, the destruction of this
//   object),
//   - timed_out, if it had a deadline that came first,
//   - already_started, if another wait is pending.
// A value that arrives after a cancelled or timed-out wait is kept, and the next wait or take() finds it. So
// of a value and a deadline at one instant, whichever the event loop handles first decides, and none gets
// lost; prefer waitUntil() to an `||` of two awaitables, which can drop a value when both sides finish
// together.
//
// The object must outlive nothing but itself: destroying it ends its wait. Its address is its identity.
#pragma once

#include <optional>

#include "sim/asio/virtual_context.hpp"

namespace holdfast::sim {

/// T must be default-constructible (a failed wait's handler gets a T{} beside the error) and movable.
template <class T>
class Completion : private detail::Waitable {
 public:
  using executor_type = VirtualExecutor;

  explicit Completion(VirtualContext& context) : context_(&context) {}
  explicit Completion(const VirtualExecutor& executor) : Completion(executor.context()) {}
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  ~Completion() { cancel(); }

  executor_type get_executor() const noexcept { return executor_type(*context_); }

  /// Brings the value; the waiter runs at the context's next runReady(), never inside this call. False, and
  /// no effect, if one was already brought since the last reset().
  bool complete(T value) {
    if (completed_) return false;
    completed_ = true;
    if (auto* const wait = static_cast<detail::ValueWaitOperation<T>*>(firstWait())) {
      wait->value = std::move(value);
      context_->finish(wait, {});
    } else {
      value_.emplace(std::move(value));
    }
    return true;
  }

  /// Whether a value was brought since the last reset(), taken or not.
  bool completed() const { return completed_; }
  /// Whether somebody waits now.
  bool awaited() const { return firstWait() != nullptr; }
  /// A value that was brought and not taken yet.
  std::optional<T> take() { return std::exchange(value_, std::nullopt); }

  /// Ends a pending wait with operation_aborted; false if there is none.
  bool cancel() { return context_->abortAll(*this) != 0; }
  /// Cancels a pending wait and forgets the value, for another use.
  void reset() {
    cancel();
    value_.reset();
    completed_ = false;
  }

  /// Waits for the value; completes with void(error_code, T).
  template <class Token = boost::asio::deferred_t>
  [[nodiscard]] auto wait(Token&& token = Token()) {
    return waitUntil(TrueInstant::never(), std::forward<Token>(token));
  }
  /// The same with a deadline in true time.
  template <class Token = boost::asio::deferred_t>
  [[nodiscard]] auto waitUntil(TrueInstant deadline, Token&& token = Token()) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, T)>(
        [this](auto&& handler, TrueInstant until) {
          start(context_->makeWait<detail::ValueWaitOperation<T>>(std::forward<decltype(handler)>(handler)),
                until);
        },
        token, deadline);
  }
  /// The same with a limit from now() on.
  template <class Token = boost::asio::deferred_t>
  [[nodiscard]] auto waitFor(Duration limit, Token&& token = Token()) {
    return waitUntil(context_->now() + limit, std::forward<Token>(token));
  }

 private:
  void start(detail::ValueWaitOperation<T>* wait, TrueInstant deadline) {
    if (firstWait() != nullptr) {
      context_->finish(wait, boost::asio::error::already_started);
    } else if (value_) {
      wait->value = std::move(*value_);
      value_.reset();
      context_->finish(wait, {});
    } else {
      wait->onExpiry = boost::asio::error::timed_out;
      context_->attach(*this, wait);
      context_->expireAt(wait, deadline);
    }
  }

  VirtualContext* context_;
  std::optional<T> value_;
  bool completed_ = false;
};

}  // namespace holdfast::sim
