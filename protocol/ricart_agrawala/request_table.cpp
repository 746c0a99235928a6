#include "protocol/ricart_agrawala/request_table.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::protocol {

void RequestTable::note(NodeId requester, const RequestEntry& request, const Rules& rules) {
  // RA-2: the clock passes every request seen. Otherwise this node could ask with a smaller stamp than one
  // that it has already granted, and the one that it granted would let it pass.
  if (rules.on(Rule::RA2_StampsAdvance)) clock_ = std::max(clock_, request.stamp);
  Open& open = this->open(request.key);
  const auto old =
      std::find_if(open.begin(), open.end(), [&](const OpenRequest& r) { return r.requester == requester; });
  if (old != open.end()) {
    if (old->stamp >= request.stamp) return;
    open.erase(old);
  }
  const OpenRequest fresh{request.stamp, requester, GrantState::open, false};
  const auto later = [](const OpenRequest& a, const OpenRequest& b) {
    return std::pair(a.stamp, a.requester) < std::pair(b.stamp, b.requester);
  };
  open.insert(std::upper_bound(open.begin(), open.end(), fresh, later), fresh);
}

void RequestTable::close(const GrantEntry& grant) {
  OpenRequest* const closed = find(grant.key, grant.requester, grant.stamp);
  if (closed != nullptr) closed->state = GrantState::granted;
}

OpenRequest* RequestTable::find(KeyId key, NodeId requester, std::uint32_t stamp) {
  Open& open = this->open(key);
  const auto found = std::find_if(open.begin(), open.end(), [&](const OpenRequest& r) {
    return r.requester == requester && r.stamp == stamp;
  });
  return found == open.end() ? nullptr : &*found;
}

RequestTable::Open& RequestTable::open(KeyId key) {
  if (key.value >= keys_.size()) keys_.resize(std::size_t{key.value} + 1);
  return keys_[key.value];
}

void RequestTable::restart(const Rules& rules) {
  if (!rules.on(Rule::RA2_StampsSurvive)) clock_ = 0;
  for (Open& open : keys_) {
    for (OpenRequest& request : open) {
      if (request.state == GrantState::granting) request.state = GrantState::open;
    }
  }
}

std::size_t RequestTable::size() const {
  std::size_t count = 0;
  for (const Open& open : keys_) {
    for (const OpenRequest& request : open) count += request.state == GrantState::granted ? 0U : 1U;
  }
  return count;
}

void RequestTable::addTo(StateHash& hash) const {
  hash.add(static_cast<std::uint64_t>(clock_));
  hash.add(static_cast<std::uint64_t>(keys_.size()));
  for (const Open& open : keys_) hash.addRange(open);
}

}  // namespace holdfast::protocol
