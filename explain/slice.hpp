// The causal slice of one event: the part of a run that a person has to read in order to understand it.
//
// Contract: a slice is what happened before the event, or before what the other party of an incident did, and
// concerns it: the same caller, transaction, token, barrier or log entry, what the key's home did about the
// key meanwhile, messages about it, faults of the nodes in it and, if it is to be told, the change of
// membership meanwhile. Between what is left stand only the edges
// of the happens-before order that do not follow from others.
#pragma once

#include <string>
#include <vector>

#include "explain/happens_before.hpp"
#include "explain/spans.hpp"

namespace holdfast::explain {

/// What is to be explained: an event, and who and what had a part in it.
struct Incident {
  std::string title;  ///< In one line: which promise was broken, or what was reached.
  std::string text;   ///< In sentences.
  EventIndex event = kNoEvent;
  std::vector<obs::KeyId> keys;
  std::vector<obs::CallId> calls;
  std::vector<obs::TxnId> txns;
  std::vector<obs::NodeId> nodes;
  std::vector<obs::Stamp> witnesses;  ///< Other places and instants that it rests on.
  bool violation = false;             ///< Not a documented limitation and not an event that was asked for.
};

/// What `event` speaks of, as something to be explained.
Incident incidentAt(Run run, EventIndex event);

struct Slice {
  std::vector<EventIndex> events;     ///< Ascending; the incident's event is the last.
  std::vector<std::size_t> steps;     ///< By event, from 1; what became of a message is one with its sending.
  std::vector<Edge> edges;            ///< Between them, by (to, from).
  std::vector<obs::NodeId> nodes;     ///< Those that have a part in it, ascending.
  std::vector<EventIndex> parties;    ///< The incident's event and those that it stands beside.
  EventIndex lastOutside = kNoEvent;  ///< The last one that came from a caller or a fault.
  std::size_t leftOut = 0;            ///< How many less important ones were left out.
};

/// Whether the change of membership in which the incident happened is a part of its slice.
enum class Change : std::uint8_t { left, told };

/// The slice of `incident`, at most about `most` events long.
Slice sliceOf(Run run, const HappensBefore& order, const Incident& incident, std::size_t most = 60,
              Change change = Change::left);

}  // namespace holdfast::explain
