#include "explain/words.hpp"

#include <fmt/format.h>

#include <variant>

#include "traces/text.hpp"

namespace holdfast::explain {
namespace {

class Clause {
 public:
  Clause(const obs::Stamped& event, const traces::Names& names) : event_(event), names_(names) {}

  std::string tell() const {
    return std::visit([&](const auto& o) { return clause(o); }, event_.what);
  }

 private:
  std::string name(obs::NodeId node) const { return traces::describe(node, names_); }
  std::string name(obs::KeyId key) const { return traces::describe(key, names_); }
  static std::string name(const obs::Token& token) {
    return fmt::format("({},{},{})", token.membership, token.incarnation, token.counter);
  }

  template <class Other>
  std::string clause(const Other&) const {
    return traces::describeWhat(event_, names_);
  }

  std::string clause(const obs::LockRequested& o) const {
    return fmt::format("call {} asked for {}, ready to wait {}, for a lease of {}", o.call.value, name(o.key),
                       traces::describe(o.wait), traces::describe(o.lease));
  }
  std::string clause(const obs::Queued& o) const {
    return fmt::format("queued {} for {} behind the present delegate", name(o.requester), name(o.key));
  }
  std::string clause(const obs::Installed& o) const {
    return fmt::format("{} {} under token {}",
                       o.renewal ? "prolonged its delegation of" : "became delegate of", name(o.key),
                       name(o.token));
  }
  std::string clause(const obs::RecallSent& o) const {
    return fmt::format("recalled {} from {}", name(o.key), name(o.holder));
  }
  std::string clause(const obs::RecallFailed& o) const {
    return fmt::format("could not recall {}: {}", name(o.key), obs::nameOf(o.cause));
  }
  std::string clause(const obs::AdmissionClosed& o) const {
    return fmt::format("closed admission on {}, {}", name(o.key),
                       o.recalled ? "recalled" : "of its own accord");
  }
  std::string clause(const obs::Drained& o) const {
    return o.settled ? fmt::format("drained {}: says that all has settled", name(o.key))
                     : fmt::format("gave up draining {}: the deadline came first", name(o.key));
  }
  std::string clause(const obs::DelegationLapsed& o) const {
    return fmt::format("let its delegation of {} under {} lapse", name(o.key), name(o.token));
  }
  std::string clause(const obs::HandedBack& o) const {
    return fmt::format("handed {} back unused", name(o.key));
  }
  std::string clause(const obs::ControlAppended& o) const {
    if (o.entry == obs::EntryKind::barrier) {
      return fmt::format("appended barrier {} to its log at position {}", o.nonce, o.position);
    }
    return fmt::format("appended the {} of {} to its log at position {}", obs::nameOf(o.entry), name(o.key),
                       o.position);
  }
  std::string clause(const obs::ReleaseSeen& o) const {
    return fmt::format("met {}'s release of {}, which {}", name(o.author), name(o.key),
                       o.cleared ? "cleared the grant" : "cleared nothing");
  }
  std::string clause(const obs::HandBackSeen& o) const {
    return fmt::format("met {}'s hand-back of {}, which {}", name(o.author), name(o.key),
                       o.cleared ? "cleared the grant" : "cleared nothing");
  }
  std::string clause(const obs::GrantExpired& o) const {
    return fmt::format("had waited {}'s grant of {} out on its own clock", name(o.delegate), name(o.key));
  }
  std::string clause(const obs::LineageLost& o) const {
    return fmt::format("lost the dependency set of {}: {}", name(o.key), obs::nameOf(o.why));
  }
  std::string clause(const obs::FenceWaiting& o) const {
    return fmt::format("waits for {}'s entry {} before it admits anyone to {}", name(o.origin), o.position,
                       name(o.key));
  }
  std::string clause(const obs::FenceSatisfied& o) const {
    return fmt::format("has applied all that {} depends on", name(o.key));
  }
  std::string clause(const obs::BarrierStarted& o) const {
    return fmt::format("asked {} members for barrier {}", o.members, o.nonce);
  }
  std::string clause(const obs::BarrierMeasured& o) const {
    return fmt::format("learnt that barrier {} is entry {} of {}", o.nonce, o.position, name(o.member));
  }
  std::string clause(const obs::BarrierSkipped& o) const {
    return fmt::format("went on without {}, which did not answer for barrier {}", name(o.member), o.nonce);
  }
  std::string clause(const obs::BarrierDone& o) const {
    return fmt::format("ended barrier {}, {}satisfied", o.nonce, o.satisfied ? "" : "not ");
  }
  std::string clause(const obs::RecoveryJoined& o) const {
    return fmt::format("bound the recovery of {} to barrier {}", name(o.key), o.nonce);
  }
  std::string clause(const obs::MembershipLapsed& o) const {
    return fmt::format("lost its lease on membership {}", o.number);
  }
  std::string clause(const obs::CoordinatorStarted& o) const {
    return fmt::format("constructed coordinator {}{}", o.incarnation,
                       o.quarantined ? ", which grants nothing yet" : "");
  }
  std::string clause(const obs::CoordinatorReplaced&) const { return "had its coordinator REPLACED"; }
  std::string clause(const obs::NodeCrashed& o) const {
    return fmt::format("CRASHED; {} submitted {} had not become durable", o.lostCommits,
                       o.lostCommits == 1 ? "commit" : "commits");
  }
  std::string clause(const obs::NodeStarted& o) const {
    return o.start == 1 ? "started" : fmt::format("STARTED AGAIN, for the {}. time", o.start);
  }
  std::string clause(const obs::NodePaused&) const { return "was SUSPENDED"; }
  std::string clause(const obs::NodeResumed&) const { return "was RESUMED"; }
  std::string clause(const obs::LinkCut& o) const { return fmt::format("LINK to {} was CUT", name(o.to)); }
  std::string clause(const obs::LinkHealed& o) const {
    return fmt::format("LINK to {} was HEALED", name(o.to));
  }

  const obs::Stamped& event_;
  const traces::Names& names_;
};

}  // namespace

std::string tell(const obs::Stamped& event, const traces::Names& names) {
  return Clause(event, names).tell();
}

}  // namespace holdfast::explain
