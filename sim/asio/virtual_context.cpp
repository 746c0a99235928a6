#include "sim/asio/virtual_context.hpp"

#include "sim/asio/virtual_timer.hpp"

namespace holdfast::sim {

using detail::Operation;
using detail::WaitOperation;

VirtualContext::VirtualContext(std::uint64_t seed, TieBreak tieBreak, TrueInstant start)
    : expiries_(seed, tieBreak), now_(start) {}

VirtualContext::~VirtualContext() {
  shutDownHandlers();
  // The services of the base class are told while the members still exist.
  shutdown();
  destroy();
}

void VirtualContext::ready(Operation* operation) {
  operation->nextReady = nullptr;
  if (readyTail_ == nullptr) {
    readyHead_ = operation;
  } else {
    readyTail_->nextReady = operation;
  }
  readyTail_ = operation;
}

std::size_t VirtualContext::runReady(std::size_t limit) {
  if (running_ || readyHead_ == nullptr) return 0;
  // Lets Asio find our cache of coroutine frames, and dispatch() know that it is inside.
  using CallStack = boost::asio::detail::call_stack<thread_context, boost::asio::detail::thread_info_base>;
  const CallStack::context inside(this, frameCache_);
  struct Running {
    bool& flag;
    explicit Running(bool& f) : flag(f) { flag = true; }
    ~Running() { flag = false; }
  } const running(running_);

  std::size_t ran = 0;
  while (readyHead_ != nullptr && ran < limit) {
    Operation* const operation = readyHead_;
    readyHead_ = operation->nextReady;
    if (readyHead_ == nullptr) readyTail_ = nullptr;
    ++ran;
    operation->run(operation, Operation::Action::invoke);
  }
  return ran;
}

std::size_t VirtualContext::advanceTo(TrueInstant t) {
  if (running_) return 0;
  std::size_t ran = runReady();
  while (nextTime() <= t && nextTime() != TrueInstant::never()) {
    now_ = std::max(now_, nextTime());
    fireDue();
    ran += runReady();
  }
  if (t != TrueInstant::never()) now_ = std::max(now_, t);
  return ran;
}

void VirtualContext::fireDue() {
  while (nextTime() <= now_) {
    WaitOperation* const wait = expiries_.pop().payload;
    wait->expiry = EventHandle::none();
    finish(wait, wait->onExpiry);
  }
}

void VirtualContext::attach(detail::Waitable& owner, WaitOperation* wait) {
  wait->owner = &owner;
  wait->previous = owner.last_;
  wait->next = nullptr;
  (owner.last_ == nullptr ? owner.first_ : owner.last_->next) = wait;
  owner.last_ = wait;
}

void VirtualContext::expireAt(WaitOperation* wait, TrueInstant at) {
  if (wait->expiry.valid()) {
    expiries_.cancel(wait->expiry);
    wait->expiry = EventHandle::none();
  }
  if (at != TrueInstant::never()) wait->expiry = expiries_.emplace(std::max(at, now_), wait);
}

void VirtualContext::retire(WaitOperation* wait) {
  if (detail::Waitable* const owner = wait->owner) {
    (wait->previous == nullptr ? owner->first_ : wait->previous->next) = wait->next;
    (wait->next == nullptr ? owner->last_ : wait->next->previous) = wait->previous;
    wait->owner = nullptr;
  }
  expireAt(wait, TrueInstant::never());
  RegistryEntry& entry = registry_[wait->registryIndex];
  entry.wait = nullptr;
  ++entry.generation;
  entry.nextFree = registryFree_;
  registryFree_ = wait->registryIndex;
  --waiting_;
}

void VirtualContext::finish(WaitOperation* wait, boost::system::error_code result) {
  retire(wait);
  wait->result = result;
  ready(wait);
}

std::size_t VirtualContext::abortAll(detail::Waitable& owner) {
  std::size_t aborted = 0;
  while (owner.first_ != nullptr) {
    finish(owner.first_, boost::asio::error::operation_aborted);
    ++aborted;
  }
  return aborted;
}

void VirtualContext::cancelWait(detail::WaitId waitId) {
  const RegistryEntry& entry = registry_[waitId.index];
  if (entry.generation == waitId.generation && entry.wait != nullptr) {
    finish(entry.wait, boost::asio::error::operation_aborted);
  }
}

void VirtualContext::retimeAll(const MonotonicClock& clock) {
  for (VirtualTimer* timer = timers_; timer != nullptr; timer = timer->nextOnClock_) {
    if (timer->clock_ == &clock) timer->retime();
  }
}

void VirtualContext::registerTimer(VirtualTimer* timer) {
  timer->previousOnClock_ = nullptr;
  timer->nextOnClock_ = timers_;
  if (timers_ != nullptr) timers_->previousOnClock_ = timer;
  timers_ = timer;
}

void VirtualContext::unregisterTimer(VirtualTimer* timer) {
  VirtualTimer* const previous = timer->previousOnClock_;
  VirtualTimer* const next = timer->nextOnClock_;
  (previous == nullptr ? timers_ : previous->nextOnClock_) = next;
  if (next != nullptr) next->previousOnClock_ = previous;
  timer->previousOnClock_ = timer->nextOnClock_ = nullptr;
}

void VirtualContext::shutDownHandlers() {
  // Destroying a handler may destroy a coroutine, whose locals may end other waits or post more work; so both
  // lists are emptied until nothing new appears.
  bool found = true;
  while (found) {
    found = false;
    while (readyHead_ != nullptr) {
      Operation* const operation = readyHead_;
      readyHead_ = operation->nextReady;
      if (readyHead_ == nullptr) readyTail_ = nullptr;
      operation->run(operation, Operation::Action::destroy);
      found = true;
    }
    for (std::size_t i = 0; i < registry_.size(); ++i) {
      WaitOperation* const wait = registry_[i].wait;
      if (wait == nullptr) continue;
      retire(wait);
      wait->run(wait, Operation::Action::destroy);
      found = true;
    }
  }
}

}  // namespace holdfast::sim
