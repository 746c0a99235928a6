#include "explain/slice.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <variant>

#include "explain/change.hpp"

namespace holdfast::explain {
namespace {

/// How much an event matters to an incident; what matters least is left out first.
enum class Weight : std::uint8_t { none, circumstance, message, change, authority, core };

template <class... Kinds>
bool kindIs(const obs::Observation& what) {
  return (std::holds_alternative<Kinds>(what) || ...);
}

/// What the incident speaks of, and what that leads to.
class Concern {
 public:
  Concern(Run run, const Incident& incident, const MembershipChange* change)
      : run_(run), incident_(incident), change_(change) {
    keys_.insert(incident.keys.begin(), incident.keys.end());
    calls_.insert(incident.calls.begin(), incident.calls.end());
    txns_.insert(incident.txns.begin(), incident.txns.end());
    nodes_.insert(incident.nodes.begin(), incident.nodes.end());
    // Twice, because a transaction leads to a call and the call to its token.
    for (int pass = 0; pass < 2; ++pass) follow();
    first_ = incident.event;
    for (EventIndex i = 0; i <= incident.event; ++i) {
      if (isCore(i)) first_ = std::min(first_, i);
    }
    // An incident without callers is about what its node, or its key's home, did before.
    alone_ = incident.calls.empty() && incident.txns.empty() && first_ == incident.event;
    if (alone_) first_ = 0;
    if (change_ != nullptr && alone_) first_ = change_->begin();
    followHome();
    followBarriers();
    followMembership();
    for (EventIndex i = first_; i <= incident.event; ++i) {
      if (isCore(i) && run_[i].node.valid()) nodes_.insert(run_[i].node);
    }
  }

  Weight weightOf(EventIndex i) const {
    if (isCore(i)) return Weight::core;
    if (change_ != nullptr && change_->has(i)) return Weight::change;
    if (const Weight weight = weightForMembership(i); weight != Weight::none) return weight;
    if (i < first_) return Weight::none;
    const obs::Stamped& event = run_[i];
    const Mentions m = mentionsOf(event.what);
    const bool here = nodes_.contains(event.node);
    if (alone_ && here && keys_.empty()) return Weight::circumstance;
    if (m.key.valid() && keys_.contains(m.key) && here) {
      if (m.message != 0) return nodes_.contains(m.peer) ? Weight::message : Weight::none;
      if (kindIs<obs::Granted, obs::ReleaseSeen, obs::GrantExpired, obs::HandBackSeen, obs::LineageLost,
                 obs::RecallSent, obs::RecallFailed, obs::RecoveryJoined>(event.what)) {
        return Weight::authority;
      }
      if (kindIs<obs::FenceWaiting, obs::Queued, obs::Denied>(event.what)) return Weight::circumstance;
      return Weight::none;
    }
    if (kindIs<obs::LinkCut, obs::LinkHealed>(event.what)) {
      return here && nodes_.contains(m.peer) ? Weight::authority : Weight::none;
    }
    if (isFault(event.what) && here) return Weight::authority;
    if (kindIs<obs::MembershipLapsed, obs::CoordinatorStarted>(event.what) && here) return Weight::authority;
    return Weight::none;
  }

  bool about(const Mentions& m) const { return m.key.valid() && keys_.contains(m.key); }
  bool involves(obs::NodeId node) const { return nodes_.contains(node); }

 private:
  bool onKey(const Mentions& m) const { return keys_.empty() || !m.key.valid() || keys_.contains(m.key); }

  bool isCore(EventIndex i) const {
    if (i == incident_.event) return true;
    const obs::Stamped& event = run_[i];
    const Mentions m = mentionsOf(event.what);
    if (m.call.valid() && calls_.contains(m.call) && onKey(m)) return true;
    if (m.txn.valid() && txns_.contains(m.txn) && onKey(m)) return true;
    if (m.token.valid() && about(m) && tokens_.contains(m.token)) return true;
    if (m.nonce != 0 && nonces_.contains(m.nonce)) return true;
    if (const auto* applied = std::get_if<obs::Applied>(&event.what)) {
      return nodes_.contains(event.node) && entries_.contains({applied->origin, applied->position});
    }
    return false;
  }

  /// Adds what the events of known callers and transactions speak of.
  void follow() {
    for (EventIndex i = 0; i <= incident_.event && i < run_.size(); ++i) {
      const obs::Stamped& event = run_[i];
      const Mentions m = mentionsOf(event.what);
      const bool known =
          (m.call.valid() && calls_.contains(m.call)) || (m.txn.valid() && txns_.contains(m.txn));
      if (!known || !onKey(m)) continue;
      if (m.txn.valid() && m.key.valid()) txns_.insert(m.txn);
      if (m.call.valid()) calls_.insert(m.call);
      if (m.token.valid()) tokens_.insert(m.token);
      if (m.key.valid() && keys_.empty()) keys_.insert(m.key);
      if (event.node.valid()) nodes_.insert(event.node);
      if (const obs::Position position = appendedAt(event.what); position != 0) {
        entries_.insert({event.node, position});
      }
    }
  }

  /// Of a caller that was never admitted: whom its node asked for the key, whom that had granted it to, and
  /// what became of it since.
  void followHome() {
    const auto admits = [&](const obs::Stamped& event) {
      const auto* admitted = std::get_if<obs::Admitted>(&event.what);
      return admitted != nullptr && calls_.contains(admitted->call);
    };
    const auto end = run_.begin() + static_cast<std::ptrdiff_t>(incident_.event) + 1;
    if (calls_.empty() || std::any_of(run_.begin(), end, admits)) return;
    std::set<obs::NodeId> homes = nodes_;
    for (EventIndex i = first_; i <= incident_.event; ++i) {
      const auto* sent = std::get_if<obs::MessageSent>(&run_[i].what);
      const bool asks = sent != nullptr && sent->message == obs::MessageKind::lockRequest;
      if (asks && nodes_.contains(run_[i].node) && keys_.contains(sent->key)) homes.insert(sent->to);
    }
    EventIndex granted = kNoEvent;
    for (EventIndex i = 0; i <= first_; ++i) {
      const auto* grant = std::get_if<obs::Granted>(&run_[i].what);
      if (grant != nullptr && keys_.contains(grant->key) && homes.contains(run_[i].node)) granted = i;
    }
    nodes_ = std::move(homes);
    if (granted == kNoEvent) return;
    nodes_.insert(std::get<obs::Granted>(run_[granted].what).to);
    tokens_.insert(std::get<obs::Granted>(run_[granted].what).token);
    first_ = granted;
  }

  /// Finds what the node had of a membership when it was refused for want of one, or of one that others
  /// share.
  void followMembership() {
    const auto* refused = std::get_if<obs::LockRefused>(&run_[incident_.event].what);
    if (refused == nullptr ||
        (refused->cause != obs::Cause::noMembership && refused->cause != obs::Cause::membership)) {
      return;
    }
    for (EventIndex i = 0; i < incident_.event; ++i) {
      const auto* installed = std::get_if<obs::MembershipInstalled>(&run_[i].what);
      if (installed == nullptr || run_[i].node != run_[incident_.event].node) continue;
      membershipFrom_ = installed_;
      installed_ = i;
      members_ = installed->members;
    }
  }

  /// Why there is no membership: what was installed last, whoever of it came back without records since the
  /// one before, and what became of it.
  Weight weightForMembership(EventIndex i) const {
    if (installed_ == kNoEvent || (membershipFrom_ != kNoEvent && i < membershipFrom_)) return Weight::none;
    const obs::Stamped& event = run_[i];
    if (kindIs<obs::MembershipJoining>(event.what)) {
      return members_.contains(event.node) ? Weight::authority : Weight::none;
    }
    if (event.node != run_[incident_.event].node || i < installed_) return Weight::none;
    if (kindIs<obs::MembershipInstalled, obs::MembershipLapsed>(event.what)) return Weight::authority;
    const auto* unheard = std::get_if<obs::MessageRefused>(&event.what);
    const bool told = kindIs<obs::ProposalStarted, obs::ProposalAbandoned>(event.what) ||
                      isFault(event.what) ||
                      (unheard != nullptr && unheard->message == obs::MessageKind::homeMapHello);
    return told ? Weight::circumstance : Weight::none;
  }

  /// Adds the barriers that recoveries of the keys were bound to.
  void followBarriers() {
    for (EventIndex i = first_; i <= incident_.event && i < run_.size(); ++i) {
      const auto* joined = std::get_if<obs::RecoveryJoined>(&run_[i].what);
      if (joined != nullptr && keys_.contains(joined->key)) nonces_.insert(joined->nonce);
    }
    nonces_.erase(0);
  }

  Run run_;
  const Incident& incident_;
  const MembershipChange* change_;  // null: none, or not to be told
  std::set<obs::KeyId> keys_;
  std::set<obs::CallId> calls_;
  std::set<obs::TxnId> txns_;
  std::set<obs::NodeId> nodes_;
  std::set<obs::Token> tokens_;
  std::set<std::uint64_t> nonces_;
  std::set<std::pair<obs::NodeId, obs::Position>> entries_;
  EventIndex first_ = 0;
  EventIndex installed_ = kNoEvent;       // the refused node's last membership
  EventIndex membershipFrom_ = kNoEvent;  // and the one before
  obs::NodeBits members_;
  bool alone_ = false;
};

/// The incident's event, and for each call, transaction and witness in it the last that is known of it.
std::vector<EventIndex> partiesOf(Run run, const Incident& incident) {
  std::set<EventIndex> parties{incident.event};
  const auto lastOf = [&](auto matches) {
    for (EventIndex i = incident.event + 1; i-- > 0;) {
      if (matches(run[i])) {
        parties.insert(i);
        return;
      }
    }
  };
  for (const obs::CallId call : incident.calls) {
    // A caller is a party by being inside; what it did later is its own story.
    const auto admitted = [&](const obs::Stamped& e) {
      const auto* one = std::get_if<obs::Admitted>(&e.what);
      return one != nullptr && one->call == call;
    };
    const bool inside =
        std::any_of(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(incident.event) + 1, admitted);
    if (inside) {
      lastOf(admitted);
    } else {
      lastOf([&](const obs::Stamped& e) { return mentionsOf(e.what).call == call; });
    }
  }
  for (const obs::TxnId txn : incident.txns) {
    lastOf([&](const obs::Stamped& e) { return mentionsOf(e.what).txn == txn; });
  }
  for (const obs::Stamp& witness : incident.witnesses) {
    lastOf([&](const obs::Stamped& e) { return e.node == witness.node && e.at <= witness.at; });
  }
  return {parties.begin(), parties.end()};
}

void numberSteps(Run run, const Incident& incident, Slice& slice) {
  std::map<std::uint64_t, std::size_t> sent;
  std::size_t count = 0;
  for (const EventIndex event : slice.events) {
    const std::uint64_t message = mentionsOf(run[event].what).message;
    const bool sends = std::holds_alternative<obs::MessageSent>(run[event].what);
    const auto told = sent.find(message);
    if (message != 0 && !sends && told != sent.end() && event != incident.event) {
      slice.steps.push_back(told->second);
      continue;
    }
    slice.steps.push_back(++count);
    if (sends) sent[message] = count;
  }
}

}  // namespace

Incident incidentAt(Run run, EventIndex event) {
  Incident incident;
  incident.event = event;
  const Mentions m = mentionsOf(run[event].what);
  if (m.key.valid()) incident.keys.push_back(m.key);
  if (m.call.valid()) incident.calls.push_back(m.call);
  if (m.txn.valid()) incident.txns.push_back(m.txn);
  if (run[event].node.valid()) incident.nodes.push_back(run[event].node);
  if (m.peer.valid()) incident.nodes.push_back(m.peer);
  return incident;
}

Slice sliceOf(Run run, const HappensBefore& order, const Incident& incident, std::size_t most,
              Change change) {
  Slice slice;
  if (incident.event >= run.size()) return slice;
  slice.parties = partiesOf(run, incident);
  const std::vector<bool> past = order.pastOf(slice.parties);
  const MembershipChange membership(run, incident, slice.parties);
  const bool changed = change == Change::told && membership.happened();
  const Concern concern(run, incident, changed ? &membership : nullptr);

  std::array<std::vector<EventIndex>, 6> byWeight;
  std::set<std::uint64_t> messages;  // that are about the keys: a delivery does not name the key itself
  for (EventIndex i = 0; i <= incident.event; ++i) {
    Weight weight = concern.weightOf(i);
    const Mentions m = mentionsOf(run[i].what);
    const bool outcome = m.message != 0 && messages.contains(m.message) && concern.involves(run[i].node);
    // A lost message is in nobody's past, and yet it is why something did not happen.
    const bool lost = outcome && std::holds_alternative<obs::MessageLost>(run[i].what);
    if (outcome) weight = Weight::message;
    if (weight == Weight::none || (!past[i] && !lost && !isFault(run[i].what))) continue;
    if (std::holds_alternative<obs::MessageSent>(run[i].what)) messages.insert(m.message);
    byWeight[static_cast<std::size_t>(weight)].push_back(i);
  }
  for (std::size_t weight = byWeight.size(); weight-- > 0;) {
    const std::vector<EventIndex>& events = byWeight[weight];
    constexpr std::size_t kMostCircumstances = 20;
    std::size_t room = most > slice.events.size() ? most - slice.events.size() : 0;
    if (weight == static_cast<std::size_t>(Weight::circumstance)) room = std::min(room, kMostCircumstances);
    // Of equals the latest stay: they are closest to the incident.
    const std::size_t kept = std::min(room, events.size());
    slice.leftOut += events.size() - kept;
    slice.events.insert(slice.events.end(), events.end() - static_cast<std::ptrdiff_t>(kept), events.end());
  }
  std::ranges::sort(slice.events);
  numberSteps(run, incident, slice);
  slice.edges = order.reduced(slice.events);
  std::set<obs::NodeId> nodes;
  for (const EventIndex i : slice.events) {
    if (run[i].node.valid()) nodes.insert(run[i].node);
    if (fromOutside(run[i].what)) slice.lastOutside = i;
  }
  slice.nodes.assign(nodes.begin(), nodes.end());
  return slice;
}

}  // namespace holdfast::explain
