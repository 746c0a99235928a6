// What lasted in a run, and from when to when: authority that a node believed it had, callers that waited,
// commits under way, faults.
//
// Contract: read off observations alone. A span of authority ends with the observation that ends it, else
// when its deadline is reached on the clock that the deadline was made from (CK-2), else with the process or
// the run. What a node went on believing without right, because a rule was broken, lasts as long as the node
// said so.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "explain/clocks.hpp"
#include "traces/names.hpp"

namespace holdfast::explain {

enum class SpanKind : std::uint8_t {
  membership,  // the node's lease on a membership (EP-6), or its acting on a home map, which has none
  quarantine,  // a coordinator that grants nothing yet (DG-9)
  activation,  // a membership is installed, and grants nothing before its predecessors have ended (EP-8)
  stopped,     // a change of the home map was acknowledged, and nothing is granted or honoured (HM-3)
  grant,       // the home holds the key to be `peer`'s (DG-3)
  delegation,  // the node may admit callers on the key
  section,     // a caller is inside
  waiting,     // a caller waits for its lock
  commit,      // a write was submitted and has not settled (LH-3)
  down,        // faults: the process does not run,
  paused,      //   stands still,
  cut          //   or can not send to `peer`
};
BOOST_DESCRIBE_ENUM(SpanKind, membership, quarantine, activation, stopped, grant, delegation, section,
                    waiting, commit, down, paused, cut)

enum class SpanEnd : std::uint8_t { event, deadline, crash, runEnd };
BOOST_DESCRIBE_ENUM(SpanEnd, event, deadline, crash, runEnd)

/// What held from one event of a span on: it changes when a lease is prolonged.
struct Term {
  EventIndex since = 0;
  obs::Token token;
  obs::MonotonicInstant deadline = obs::MonotonicInstant::never();
};

struct Span {
  SpanKind kind = SpanKind::delegation;
  obs::NodeId node;
  obs::NodeId peer;
  obs::KeyId key;
  obs::CallId call;
  obs::TxnId txn;
  obs::Token token;
  std::uint64_t number = 0;    ///< Of the membership or the incarnation.
  EventIndex first = 0;        ///< The event that began it.
  EventIndex last = kNoEvent;  ///< The event that ended it, if one did.
  obs::TrueInstant from;
  obs::TrueInstant to;
  EventIndex closed = kNoEvent;  ///< delegation: where its admission was closed (DR-1).
  /// The latest deadline on the node's clock; never() without one.
  obs::MonotonicInstant deadline = obs::MonotonicInstant::never();
  SpanEnd ended = SpanEnd::runEnd;
  std::vector<Term> terms;  ///< The earlier tokens and deadlines, and the latest, in order.

  bool isFault() const { return kind >= SpanKind::down; }
  /// Whether it had begun and not ended right after `event`, which was made at `at`.
  bool activeAt(EventIndex event, obs::TrueInstant at) const {
    if (event < first) return false;
    return last != kNoEvent ? event < last : at < to || (at == to && ended == SpanEnd::runEnd);
  }
};

/// The span as its node knew it right after `event`: with the token and deadline of then, and not yet closed
/// if it was closed later.
Span asKnownAt(const Span& span, EventIndex event);

/// All spans of a run in the order in which they began.
std::vector<Span> spansOf(Run run, const Clocks& clocks);

/// A span in a few words, from the node's own point of view: "delegate of k under (1,1,7)".
std::string describe(const Span& span, const traces::Names& names);

}  // namespace holdfast::explain
