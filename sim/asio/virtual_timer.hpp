// A timer in virtual time, set on true time or on a node's monotonic clock.
//
// Contract: a wait completes with no error once the deadline has come, and with operation_aborted if it was
// cancelled first: by cancel(), by a new deadline, by the timer's destruction, or through the wait's own
// cancellation slot. Any number of waits may be pending. A wait on a deadline that has passed completes at
// once, but never inside the initiating call.
//
// A timer on a node's clock (CK-2) fires at the true instant at which that clock reaches the deadline. When
// the clock's rate changes, the owner of the clock calls retime(), or VirtualContext::retimeAll() for all
// timers of the clock; a frozen clock holds its timers back. A timer's address is its identity, so it cannot
// be moved.
#pragma once

#include "sim/asio/virtual_context.hpp"

namespace holdfast::sim {

class VirtualTimer : private detail::Waitable {
 public:
  using executor_type = VirtualExecutor;

  /// A timer without a deadline: it waits until it is given one that passes, or is cancelled.
  explicit VirtualTimer(VirtualContext& context) : context_(&context) {}
  explicit VirtualTimer(const VirtualExecutor& executor) : VirtualTimer(executor.context()) {}
  VirtualTimer(VirtualContext& context, TrueInstant at) : VirtualTimer(context) { deadline_ = at; }
  VirtualTimer(VirtualContext& context, Duration d) : VirtualTimer(context, context.now() + d) {}
  VirtualTimer(VirtualContext& context, const MonotonicClock& clock, MonotonicInstant at)
      : VirtualTimer(context) {
    expiresAt(clock, at);
  }
  VirtualTimer(const VirtualTimer&) = delete;
  VirtualTimer& operator=(const VirtualTimer&) = delete;
  ~VirtualTimer() {
    cancel();
    leaveClock();
  }

  executor_type get_executor() const noexcept { return executor_type(*context_); }

  /// Sets the deadline on true time. Pending waits are cancelled; gives how many.
  std::size_t expiresAt(TrueInstant at) {
    leaveClock();
    deadline_ = at;
    return cancel();
  }
  std::size_t expiresAfter(Duration d) { return expiresAt(context_->now() + d); }
  /// Sets the deadline on `clock`, which must outlive the timer or its next deadline.
  std::size_t expiresAt(const MonotonicClock& clock, MonotonicInstant at) {
    leaveClock();
    clock_ = &clock;
    local_ = at;
    deadline_ = clock.whenReads(at);
    context_->registerTimer(this);
    return cancel();
  }

  /// When the timer fires as things are; never() without a deadline, or if its clock is frozen short of it.
  TrueInstant expiry() const { return deadline_; }

  /// Computes the instant anew after the clock changed; pending waits stay pending. No effect on a timer that
  /// is set on true time.
  void retime() {
    if (clock_ == nullptr) return;
    deadline_ = clock_->whenReads(local_);
    for (detail::WaitOperation* wait = firstWait(); wait != nullptr; wait = wait->next) {
      context_->expireAt(wait, deadline_);
    }
  }

  /// Ends all pending waits with operation_aborted; gives how many.
  std::size_t cancel() { return context_->abortAll(*this); }

  /// Waits for the deadline; completes with void(error_code).
  template <class Token = boost::asio::deferred_t>
  [[nodiscard]] auto wait(Token&& token = Token()) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
        [this](auto&& handler) {
          auto* const operation =
              context_->makeWait<detail::WaitOperation>(std::forward<decltype(handler)>(handler));
          context_->attach(*this, operation);
          context_->expireAt(operation, deadline_);
        },
        token);
  }
  /// The name that Asio's own timers have for it.
  template <class Token = boost::asio::deferred_t>
  [[nodiscard]] auto async_wait(Token&& token = Token()) {
    return wait(std::forward<Token>(token));
  }

 private:
  friend class VirtualContext;

  void leaveClock() {
    if (clock_ == nullptr) return;
    clock_ = nullptr;
    context_->unregisterTimer(this);
  }

  VirtualContext* context_;
  TrueInstant deadline_ = TrueInstant::never();
  const MonotonicClock* clock_ = nullptr;
  MonotonicInstant local_{};
  VirtualTimer* previousOnClock_ = nullptr;
  VirtualTimer* nextOnClock_ = nullptr;
};

}  // namespace holdfast::sim
