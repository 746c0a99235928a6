// Every caller is answered: exactly once, and in time.
//
// A lock call ends in one of admitted or refused, unless its node crashes. It waits no longer than its own
// `wait` (plus CheckerOptions::waitTolerance) on its node's own clock, whatever it waits for: queue, fence or
// barrier (DG-10, FR-8); the time for which its process was suspended does not count (CK-4). Local callers of
// one key are served in the order in which they asked (LH-1); so are nodes at the home (DG-10), if
// CheckerOptions::judgeQueueOrder is on, and no home renews what it has recalled for somebody else. A
// submitted transaction settles or is refused, once, unless its node crashes (DR-3).
//
// What is still open at the end of a run is judged if the run was complete: it has no phases at all, or it
// reached the last one. Of a run that was cut short only overdue callers are reported. A run of phases ends
// at an instant: who still waits within its limit then is neither answered nor late, and is counted.
#pragma once

#include "checkers/context.hpp"

namespace holdfast::checkers {

class Callers {
 public:
  static constexpr Checker kChecker = Checker::callers;

  void on(const Stamp& stamp, const obs::Admitted& event, const Context& context);
  void on(const Stamp& stamp, const obs::Reentered& event, const Context& context);
  void on(const Stamp& stamp, const obs::LockRefused& event, const Context& context);
  void on(const Stamp& stamp, const obs::Settled& event, const Context& context);
  void on(const Stamp& stamp, const obs::MessageSent& event, const Context& context);
  void on(const Stamp& stamp, const obs::Queued& event, const Context& context);
  void on(const Stamp& stamp, const obs::Denied& event, const Context& context);
  void on(const Stamp& stamp, const obs::RecallSent& event, const Context& context);
  void on(const Stamp& stamp, const obs::Granted& event, const Context& context);
  void finish(TrueInstant at, const Context& context);

  /// Callers that still waited within their limits when a complete run ended some time after its healing.
  std::uint64_t waiting() const { return waiting_; }

 private:
  void judgeAnswer(const Stamp& stamp, CallId call, const Context& context) const;
  void judgeOrder(const Stamp& stamp, CallId call, const Context& context) const;

  /// A node in the queue of the key's home. `askedAt`: when it last asked, so which calls it asked for.
  struct Waiter {
    NodeId node;
    NodeId home;
    std::uint32_t homeLives = 0;
    TrueInstant queuedAt;
    TrueInstant askedAt;
  };
  using Queue = boost::container::small_vector<Waiter, 4>;

  static void leave(Queue& queue, NodeId node);
  CallId surelyWaiting(const Waiter& waiter, KeyId key, TrueInstant at, const Context& context) const;

  void judgeRenewal(const Stamp& stamp, const obs::Granted& event, const Context& context);

  /// The latest recall of a key.
  struct Recall {
    obs::Token token;
    TrueInstant at;
  };
  struct Last {
    obs::Token granted;
    Recall recall;
  };

  FlatTable<Last> last_;             // by key
  FlatTable<Queue> queues_;          // by key
  NodeMatrix<TrueInstant> askedAt_;  // [key][node]
  std::uint64_t waiting_ = 0;
};

}  // namespace holdfast::checkers
