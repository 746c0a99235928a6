// The Asio bridge: an execution context whose time is virtual, so that clients and directed scenarios are
// written as straight C++20 coroutines.
//
//   VirtualContext context;
//   spawn(context, [&]() -> Awaitable<> {
//     co_await context.sleepFor(seconds(3));        // no real time passes
//     const Grant grant = co_await reply.wait();    // a Completion<Grant> that the event loop completes
//   });
//   context.run();
//
// Contract: handlers run only inside runReady(), advanceTo() and run(), one at a time, on the calling thread;
// ready ones in the order in which they became ready, timers in the order of their EventQueue. No system call
// is made and no real clock is read. The context is driven by an outer event loop that owns true time:
//
//   const TrueInstant next = std::min(events.nextTime(), context.nextTime());
//   context.advanceTo(next);   // fires what is due and runs it
//   ... handle the loop's own events of that instant, which may complete() waits ...
//   context.runReady();
//
// Destroying the context destroys every waiting and ready handler without calling it, and with it every
// coroutine suspended there. Timers and completions outside of coroutines must be destroyed before the
// context.
//
// A context, with all that runs on it, belongs to one thread. Every worker of a sweep has its own.
#pragma once

#include <algorithm>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detail/call_stack.hpp>
#include <boost/asio/detail/thread_context.hpp>
#include <boost/asio/detail/thread_info_base.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/asio/operation.hpp"
#include "sim/clock.hpp"
#include "sim/event_queue.hpp"
#include "sim/time.hpp"

namespace holdfast::sim {

class VirtualTimer;

/// Runs function objects on a VirtualContext. It meets Asio's executor requirements; the properties are
/// blocking (possibly, never), relationship (fork, continuation) and outstanding_work (untracked, tracked),
/// of which tracked is counted by VirtualContext::outstandingWork().
class VirtualExecutor {
 public:
  explicit VirtualExecutor(VirtualContext& context) noexcept : context_(&context) {}
  VirtualExecutor(const VirtualExecutor& other) noexcept : context_(other.context_), bits_(other.bits_) {
    hold();
  }
  VirtualExecutor& operator=(const VirtualExecutor& other) noexcept {
    VirtualExecutor copy(other);
    std::swap(context_, copy.context_);
    std::swap(bits_, copy.bits_);
    return *this;
  }
  VirtualExecutor& operator=(VirtualExecutor&& other) noexcept { return *this = std::as_const(other); }
  ~VirtualExecutor() { release(); }

  VirtualContext& context() const noexcept { return *context_; }
  VirtualContext& query(boost::asio::execution::context_t) const noexcept { return *context_; }

  static constexpr boost::asio::execution::mapping_t query(boost::asio::execution::mapping_t) noexcept {
    return boost::asio::execution::mapping.thread;
  }
  boost::asio::execution::blocking_t query(boost::asio::execution::blocking_t) const noexcept {
    if ((bits_ & kNever) != 0) return boost::asio::execution::blocking.never;
    return boost::asio::execution::blocking.possibly;
  }
  boost::asio::execution::relationship_t query(boost::asio::execution::relationship_t) const noexcept {
    if ((bits_ & kContinuation) != 0) return boost::asio::execution::relationship.continuation;
    return boost::asio::execution::relationship.fork;
  }
  boost::asio::execution::outstanding_work_t query(
      boost::asio::execution::outstanding_work_t) const noexcept {
    if ((bits_ & kTracked) != 0) return boost::asio::execution::outstanding_work.tracked;
    return boost::asio::execution::outstanding_work.untracked;
  }

  VirtualExecutor require(boost::asio::execution::blocking_t::possibly_t) const noexcept {
    return {context_, bits_ & ~kNever};
  }
  VirtualExecutor require(boost::asio::execution::blocking_t::never_t) const noexcept {
    return {context_, bits_ | kNever};
  }
  VirtualExecutor require(boost::asio::execution::relationship_t::fork_t) const noexcept {
    return {context_, bits_ & ~kContinuation};
  }
  VirtualExecutor require(boost::asio::execution::relationship_t::continuation_t) const noexcept {
    return {context_, bits_ | kContinuation};
  }
  VirtualExecutor require(boost::asio::execution::outstanding_work_t::untracked_t) const noexcept {
    return {context_, bits_ & ~kTracked};
  }
  VirtualExecutor require(boost::asio::execution::outstanding_work_t::tracked_t) const noexcept {
    return {context_, bits_ | kTracked};
  }

  /// Calls `function` at once if blocking is allowed and the context is running it; queues it otherwise.
  template <class Function>
  void execute(Function&& function) const;

  /// Executors are equal if they run on one context with equal properties; tracked or not does not matter.
  friend bool operator==(const VirtualExecutor& a, const VirtualExecutor& b) noexcept {
    return a.context_ == b.context_ && (a.bits_ & ~kTracked) == (b.bits_ & ~kTracked);
  }
  friend bool operator!=(const VirtualExecutor& a, const VirtualExecutor& b) noexcept { return !(a == b); }

 private:
  static constexpr unsigned kNever = 1;
  static constexpr unsigned kContinuation = 2;
  static constexpr unsigned kTracked = 4;

  VirtualExecutor(VirtualContext* context, unsigned bits) noexcept : context_(context), bits_(bits) {
    hold();
  }
  inline void hold() const noexcept;
  inline void release() const noexcept;

  VirtualContext* context_;
  unsigned bits_ = 0;
};

class VirtualContext : public boost::asio::execution_context, private boost::asio::detail::thread_context {
 public:
  using executor_type = VirtualExecutor;

  /// `seed` and `tieBreak` order the timers of one instant, as in EventQueue.
  explicit VirtualContext(std::uint64_t seed = 0, TieBreak tieBreak = TieBreak::fifo, TrueInstant start = {});
  ~VirtualContext();
  VirtualContext(const VirtualContext&) = delete;
  VirtualContext& operator=(const VirtualContext&) = delete;

  executor_type get_executor() noexcept { return executor_type(*this); }

  /// True time as the outer loop last set it; while a timer's handler runs, the instant it was set for.
  TrueInstant now() const { return now_; }
  /// When the next timer is due; never() if none is. Ready handlers do not count: see hasReady().
  TrueInstant nextTime() const { return expiries_.nextTime(); }
  bool hasReady() const { return readyHead_ != nullptr; }
  /// Waits that are neither fulfilled nor cancelled.
  std::size_t waiting() const { return waiting_; }
  /// Executors that track outstanding work: positive while a spawned coroutine is alive. With nothing ready
  /// and no timer set, such coroutines wait for completions that somebody else must bring.
  std::int64_t outstandingWork() const { return outstandingWork_; }

  /// Runs ready handlers, those that become ready meanwhile included, until none is left or `limit` have run;
  /// gives how many ran. An exception thrown by a handler passes through, and the rest can be run afterwards.
  /// Called from inside a handler it does nothing.
  std::size_t runReady(std::size_t limit = std::numeric_limits<std::size_t>::max());

  /// Moves time to `t` step by step: at the instant of each timer due until then, fires it and runs
  /// everything ready; gives how many handlers ran. Time never moves back: an earlier `t` runs only what is
  /// due now. With never() it ends when no timer is left, and time stays at the last one.
  std::size_t advanceTo(TrueInstant t);
  /// Runs until no handler is ready and no timer is left.
  std::size_t run() { return advanceTo(TrueInstant::never()); }

  /// Waits until true instant `at`; completes with void(error_code), operation_aborted if cancelled.
  template <class Token = boost::asio::deferred_t>
  [[nodiscard]] auto sleepUntil(TrueInstant at, Token&& token = Token());
  /// The same, `d` after now() at the call (not at the co_await).
  template <class Token = boost::asio::deferred_t>
  [[nodiscard]] auto sleepFor(Duration d, Token&& token = Token()) {
    return sleepUntil(now_ + d, std::forward<Token>(token));
  }

  /// After a change of `clock` (a rate, a freeze, a thaw), sets every timer that is set on it to the true
  /// instant at which the clock now reaches its deadline.
  void retimeAll(const MonotonicClock& clock);

 private:
  friend class VirtualExecutor;
  friend class VirtualTimer;
  template <class T>
  friend class Completion;
  template <class Base, class Handler>
  friend struct WaitHandlerOperation;

  struct RegistryEntry {
    detail::WaitOperation* wait = nullptr;
    std::uint32_t generation = 0;
    std::uint32_t nextFree = kNone;
  };
  static constexpr std::uint32_t kNone = 0xffffffff;

  // Cancels one wait through its cancellation slot. It names the wait by id, so a late emission does no harm.
  struct Canceller {
    VirtualContext* context;
    detail::WaitId waitId;
    void operator()(boost::asio::cancellation_type_t type) const {
      if (type != boost::asio::cancellation_type::none) context->cancelWait(waitId);
    }
  };

  /// Allocates the operation for `handler` (Base is WaitOperation or a ValueWaitOperation), registers it, and
  /// connects the handler's cancellation slot.
  template <class Base, class Handler>
  Base* makeWait(Handler&& handler);

  void ready(detail::Operation* operation);
  /// Adds a registered wait to the end of what waits for `owner`.
  void attach(detail::Waitable& owner, detail::WaitOperation* wait);
  /// Lets the wait end at `at` unless something else ends it first; never() means no limit.
  void expireAt(detail::WaitOperation* wait, TrueInstant at);
  /// Ends a wait with `result`: detaches it from everything and makes it ready.
  void finish(detail::WaitOperation* wait, boost::system::error_code result);
  /// Ends all waits for `owner` with operation_aborted; gives how many.
  std::size_t abortAll(detail::Waitable& owner);
  void cancelWait(detail::WaitId waitId);
  void retire(detail::WaitOperation* wait);
  void fireDue();
  void shutDownHandlers();
  void registerTimer(VirtualTimer* timer);
  void unregisterTimer(VirtualTimer* timer);

  // Declared first, destroyed last: operations are freed into it.
  detail::BlockPool pool_;
  boost::asio::detail::thread_info_base frameCache_;
  EventQueue<detail::WaitOperation*> expiries_;
  std::vector<RegistryEntry> registry_;
  std::uint32_t registryFree_ = kNone;
  std::size_t waiting_ = 0;
  detail::Operation* readyHead_ = nullptr;
  detail::Operation* readyTail_ = nullptr;
  VirtualTimer* timers_ = nullptr;  // those set on a node's clock
  TrueInstant now_;
  std::int64_t outstandingWork_ = 0;
  bool running_ = false;
};

inline void VirtualExecutor::hold() const noexcept {
  if ((bits_ & kTracked) != 0) ++context_->outstandingWork_;
}

inline void VirtualExecutor::release() const noexcept {
  if ((bits_ & kTracked) != 0) --context_->outstandingWork_;
}

namespace detail {

/// A function object given to an executor.
template <class Function>
struct FunctionOperation : Operation {
  BlockPool* pool;
  Function function;

  template <class F>
  FunctionOperation(BlockPool& p, F&& f) : Operation(&runIt), pool(&p), function(std::forward<F>(f)) {}

  static void runIt(Operation* base, Action action) {
    auto* const self = static_cast<FunctionOperation*>(base);
    Function taken(std::move(self->function));
    PoolAllocator<FunctionOperation> allocator(*self->pool);
    self->~FunctionOperation();
    allocator.deallocate(self, 1);
    if (action == Action::invoke) taken();
  }
};

}  // namespace detail

template <class Function>
void VirtualExecutor::execute(Function&& function) const {
  if ((bits_ & kNever) == 0 && context_->running_) {
    if constexpr (std::is_lvalue_reference_v<Function> || std::is_const_v<Function>) {
      std::decay_t<Function> copy(function);
      std::move(copy)();
    } else {
      std::forward<Function>(function)();
    }
    return;
  }
  using Op = detail::FunctionOperation<std::decay_t<Function>>;
  detail::PoolAllocator<Op> allocator(context_->pool_);
  Op* const memory = allocator.allocate(1);
  try {
    ::new (static_cast<void*>(memory)) Op(context_->pool_, std::forward<Function>(function));
  } catch (...) {
    allocator.deallocate(memory, 1);
    throw;
  }
  context_->ready(memory);
}

/// A wait together with the handler that it ends in.
template <class Base, class Handler>
struct WaitHandlerOperation : Base {
  using Executor = boost::asio::associated_executor_t<Handler, VirtualExecutor>;
  using Work = std::decay_t<typename boost::asio::prefer_result<
      Executor, boost::asio::execution::outstanding_work_t::tracked_t>::type>;
  using Allocator = typename std::allocator_traits<boost::asio::associated_allocator_t<
      Handler, detail::PoolAllocator<void>>>::template rebind_alloc<WaitHandlerOperation>;
  using Action = detail::Operation::Action;

  VirtualContext* context;
  Handler handler;
  // Keeps the executor that the handler wants from running out of work meanwhile.
  Work work;

  template <class H>
  WaitHandlerOperation(VirtualContext& c, H&& h)
      : Base(&runIt),
        context(&c),
        handler(std::forward<H>(h)),
        work(boost::asio::prefer(boost::asio::get_associated_executor(handler, c.get_executor()),
                                 boost::asio::execution::outstanding_work.tracked)) {}

  static Allocator allocatorOf(VirtualContext& c, const Handler& h) {
    return Allocator(boost::asio::get_associated_allocator(h, detail::PoolAllocator<void>(c.pool_)));
  }

  static void runIt(detail::Operation* base, Action action) {
    auto* const self = static_cast<WaitHandlerOperation*>(base);
    VirtualContext& context = *self->context;
    Handler taken(std::move(self->handler));
    Work executor(std::move(self->work));
    const boost::system::error_code result = self->result;
    Allocator allocator = allocatorOf(context, taken);
    if constexpr (requires { self->value; }) {
      auto value = std::move(self->value);
      self->~WaitHandlerOperation();
      std::allocator_traits<Allocator>::deallocate(allocator, self, 1);
      if (action == Action::destroy) return;
      deliver(context, executor, [h = std::move(taken), result, v = std::move(value)]() mutable {
        std::move(h)(result, std::move(v));
      });
    } else {
      self->~WaitHandlerOperation();
      std::allocator_traits<Allocator>::deallocate(allocator, self, 1);
      if (action == Action::destroy) return;
      deliver(context, executor, [h = std::move(taken), result]() mutable { std::move(h)(result); });
    }
  }

  template <class Call>
  static void deliver(VirtualContext& context, const Work& executor, Call&& call) {
    if constexpr (std::is_same_v<Work, VirtualExecutor>) {
      if (&executor.context() == &context) {
        call();
        return;
      }
    }
    boost::asio::dispatch(executor, std::forward<Call>(call));
  }
};

template <class Base, class Handler>
Base* VirtualContext::makeWait(Handler&& handler) {
  using Op = WaitHandlerOperation<Base, std::decay_t<Handler>>;
  auto allocator = Op::allocatorOf(*this, handler);
  auto slot = boost::asio::get_associated_cancellation_slot(handler);
  Op* const wait = std::allocator_traits<typename Op::Allocator>::allocate(allocator, 1);
  try {
    ::new (static_cast<void*>(wait)) Op(*this, std::forward<Handler>(handler));
  } catch (...) {
    std::allocator_traits<typename Op::Allocator>::deallocate(allocator, wait, 1);
    throw;
  }
  if (registryFree_ == kNone) {
    registryFree_ = static_cast<std::uint32_t>(registry_.size());
    registry_.emplace_back();
  }
  wait->registryIndex = registryFree_;
  RegistryEntry& entry = registry_[registryFree_];
  registryFree_ = entry.nextFree;
  entry.wait = wait;
  ++waiting_;
  if (slot.is_connected()) {
    slot.template emplace<Canceller>(Canceller{this, {wait->registryIndex, entry.generation}});
  }
  return wait;
}

template <class Token>
auto VirtualContext::sleepUntil(TrueInstant at, Token&& token) {
  return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
      [this](auto&& handler, TrueInstant until) {
        auto* const wait = makeWait<detail::WaitOperation>(std::forward<decltype(handler)>(handler));
        expireAt(wait, until);
      },
      token, at);
}

}  // namespace holdfast::sim
