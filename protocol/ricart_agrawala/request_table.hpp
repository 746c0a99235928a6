// The requests that a participant has still to grant, and the clock of its own (RA-2).
//
// Both follow from the entries that are in the replica: a request that was applied is open until the own log
// holds its grant, and the clock has passed every stamp that was seen. So they become durable together with
// those entries, and survive a crash with them. A requester has at most one request for a key here: a later
// one supersedes what it withdrew (RA-4), which bounds the table by participants times keys.
//
// EP-14: since the clock is never set back, no two starts of a process ask with the same stamp, and what
// names a stamp (grants, questions about a request, and what is said of it) needs no start beside it.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <vector>

#include "protocol/log_entry.hpp"
#include "protocol/rules.hpp"
#include "protocol/state_hash.hpp"

namespace holdfast::protocol {

/// granting: the grant is on the way to the disk. granted: the own log holds it; kept until the requester's
/// next request, so that it can be asked about.
enum class GrantState : std::uint8_t { open, granting, granted };

struct OpenRequest {
  std::uint32_t stamp = 0;
  NodeId requester;
  GrantState state = GrantState::open;
  bool held = false;  // the key has been held here while it was open
};
BOOST_DESCRIBE_STRUCT(OpenRequest, (), (stamp, requester, state, held))

/// TK-1: the token of a request, and of the section that it is for. The later section's is the greater: they
/// follow each other by stamp, and then by the requester's name (RA-2).
constexpr Token tokenOf(NodeId requester, std::uint32_t stamp) {
  return {1, stamp, std::uint64_t{requester.value} + 1};
}

class RequestTable {
 public:
  /// Sorted by (stamp, requester name): NodeId order is name order.
  using Open = boost::container::small_vector<OpenRequest, 4>;

  /// A stamp greater than that of every request noted so far.
  std::uint32_t nextStamp() { return ++clock_; }

  /// A request has become visible here. An older one of the same requester is void (RA-4); so is this one, if
  /// it is the older. RA2_StampsAdvance off: the clock does not pass it.
  void note(NodeId requester, const RequestEntry& request, const Rules& rules);

  /// The own log holds this grant.
  void close(const GrantEntry& grant);

  /// nullptr when that request is not known, or superseded.
  OpenRequest* find(KeyId key, NodeId requester, std::uint32_t stamp);
  Open& open(KeyId key);

  /// After a crash: grants that were on their way are not any more. RA2_StampsSurvive off: stamps begin anew.
  void restart(const Rules& rules);

  /// Requests over all keys that are not granted.
  std::size_t size() const;

  void addTo(StateHash& hash) const;

 private:
  std::uint32_t clock_ = 0;
  std::vector<Open> keys_;  // index: KeyId; grows as keys are named
};

}  // namespace holdfast::protocol
