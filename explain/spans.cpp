#include "explain/spans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "traces/text.hpp"

namespace holdfast::explain {
namespace {

/// Turns the observations of a run, one after the other, into spans.
class SpanBuilder {
 public:
  SpanBuilder(Run run, const Clocks& clocks)
      : clocks_(clocks), leases_(std::ranges::any_of(run, [](const obs::Stamped& event) {
          return std::holds_alternative<obs::MembershipRenewed>(event.what);
        })) {}

  void on(EventIndex index, const obs::Stamped& event) {
    index_ = index;
    stamp_ = {event.at, event.node};
    std::visit([&](const auto& o) { handle(o); }, event.what);
  }

  std::vector<Span> finish(obs::TrueInstant end) {
    for (const std::size_t i : open_) {
      Span& span = spans_[i];
      span.to = end;
      endAtDeadline(span);
    }
    return std::move(spans_);
  }

 private:
  // Kinds that begin and end nothing, those of later versions among them.
  template <class Other>
  void handle(const Other&) {}

  void handle(const obs::MembershipRenewed& o) {
    const auto same = [&](const Span& s) { return s.kind == SpanKind::membership && s.number == o.number; };
    if (Span* const span = find(same)) {
      extend(*span, o.deadline);
      return;
    }
    Span& span = begin(SpanKind::membership);
    span.number = o.number;
    extend(span, o.deadline);
  }
  void handle(const obs::MembershipLapsed&) {
    end([](const Span& s) { return s.kind == SpanKind::membership; });
  }

  void handle(const obs::MembershipInstalled& o) {
    end([&](const Span& s) {
      // A lease on what came before is over by itself (EP-6).
      const bool acting = s.kind == SpanKind::membership && s.number != o.number && !leases_;
      return acting || s.kind == SpanKind::activation ||
             (s.kind == SpanKind::stopped && s.number <= o.number);
    });
    if (o.activateAfter <= obs::Duration{}) return;
    Span& span = begin(SpanKind::activation);
    span.number = o.number;
    extend(span, clocks_.monotonic(stamp_.node, stamp_.at) + o.activateAfter);
  }
  void handle(const obs::MembershipActive& o) {
    end([&](const Span& s) { return s.kind == SpanKind::activation && s.number == o.number; });
    const auto same = [&](const Span& s) { return s.kind == SpanKind::membership && s.number == o.number; };
    if (!leases_ && find(same) == nullptr) begin(SpanKind::membership).number = o.number;
  }
  void handle(const obs::HomeMapAcknowledged& o) {
    if (o.again) return;
    end([](const Span& s) { return s.kind == SpanKind::membership || s.kind == SpanKind::stopped; });
    begin(SpanKind::stopped).number = o.generation;
  }

  void handle(const obs::CoordinatorStarted& o) {
    end([](const Span& s) { return s.kind == SpanKind::quarantine || s.kind == SpanKind::grant; });
    if (!o.quarantined) return;
    Span& span = begin(SpanKind::quarantine);
    span.number = o.incarnation;
    span.deadline = o.until;
  }

  void handle(const obs::Granted& o) {
    end([&](const Span& s) { return s.kind == SpanKind::grant && s.key == o.key && s.peer != o.to; });
    const auto same = [&](const Span& s) { return s.kind == SpanKind::grant && s.key == o.key; };
    if (Span* const span = find(same)) {
      span->token = o.token;
      noteTerm(*span);
      return;
    }
    Span& span = begin(SpanKind::grant);
    span.key = o.key;
    span.peer = o.to;
    span.token = o.token;
    noteTerm(span);
  }
  void handle(const obs::ReleaseSeen& o) {
    if (o.cleared) endGrant(o.key);
  }
  void handle(const obs::HandBackSeen& o) {
    if (o.cleared) endGrant(o.key);
  }
  void handle(const obs::GrantExpired& o) { endGrant(o.key); }

  void handle(const obs::Installed& o) {
    const auto same = [&](const Span& s) {
      return s.kind == SpanKind::delegation && s.key == o.key && s.closed == kNoEvent;
    };
    if (Span* const span = o.renewal ? find(same) : nullptr) {
      span->token = o.token;
      extend(*span, o.deadline);
      return;
    }
    end([&](const Span& s) { return s.kind == SpanKind::delegation && s.key == o.key; });
    Span& span = begin(SpanKind::delegation);
    span.key = o.key;
    span.token = o.token;
    extend(span, o.deadline);
  }
  void handle(const obs::AdmissionClosed& o) {
    const auto same = [&](const Span& s) { return s.kind == SpanKind::delegation && s.key == o.key; };
    if (Span* const span = find(same)) span->closed = index_;
  }
  void handle(const obs::Drained& o) { endDelegation(o.key); }
  void handle(const obs::DelegationLapsed& o) { endDelegation(o.key); }
  void handle(const obs::HandedBack& o) { endDelegation(o.key); }

  void handle(const obs::LockRequested& o) {
    Span& span = begin(SpanKind::waiting);
    span.key = o.key;
    span.call = o.call;
  }
  void handle(const obs::LockRefused& o) { endCall(SpanKind::waiting, o.call); }
  void handle(const obs::Admitted& o) {
    endCall(SpanKind::waiting, o.call);
    Span& span = begin(SpanKind::section);
    span.key = o.key;
    span.call = o.call;
    span.token = o.token;
    extend(span, o.deadline);
  }
  void handle(const obs::Reentered& o) {
    const auto same = [&](const Span& s) { return s.kind == SpanKind::section && s.call == o.call; };
    if (Span* const span = find(same)) extend(*span, o.deadline);
  }
  void handle(const obs::Unlocked& o) { endCall(SpanKind::section, o.call); }
  void handle(const obs::Revoked& o) { endCall(SpanKind::section, o.call); }

  void handle(const obs::Submitted& o) {
    const auto same = [&](const Span& s) { return s.kind == SpanKind::commit && s.txn == o.txn; };
    if (find(same) != nullptr) return;
    Span& span = begin(SpanKind::commit);
    span.key = o.key;
    span.call = o.call;
    span.txn = o.txn;
  }
  void handle(const obs::Settled& o) {
    end([&](const Span& s) { return s.kind == SpanKind::commit && s.txn == o.txn; });
  }

  void handle(const obs::NodeCrashed&) {
    end([](const Span& s) { return s.kind != SpanKind::cut; }, SpanEnd::crash);
    begin(SpanKind::down);
  }
  void handle(const obs::NodeStarted&) {
    end([](const Span& s) { return s.kind == SpanKind::down; });
  }
  void handle(const obs::NodePaused&) { begin(SpanKind::paused); }
  void handle(const obs::NodeResumed&) {
    end([](const Span& s) { return s.kind == SpanKind::paused; });
  }
  void handle(const obs::LinkCut& o) {
    const auto same = [&](const Span& s) { return s.kind == SpanKind::cut && s.peer == o.to; };
    if (find(same) == nullptr) begin(SpanKind::cut).peer = o.to;
  }
  void handle(const obs::LinkHealed& o) {
    end([&](const Span& s) { return s.kind == SpanKind::cut && s.peer == o.to; });
  }

  Span& begin(SpanKind kind) {
    open_.push_back(spans_.size());
    Span& span = spans_.emplace_back();
    span.kind = kind;
    span.node = stamp_.node;
    span.first = index_;
    span.from = stamp_.at;
    return span;
  }

  /// The open span at this node for which `matches` holds.
  template <class Predicate>
  Span* find(Predicate matches) {
    for (const std::size_t i : open_) {
      if (spans_[i].node == stamp_.node && matches(spans_[i])) return &spans_[i];
    }
    return nullptr;
  }

  void extend(Span& span, obs::MonotonicInstant deadline) const {
    span.deadline = deadline;
    noteTerm(span);
  }
  void noteTerm(Span& span) const { span.terms.push_back({index_, span.token, span.deadline}); }

  /// Ends every open span at this node for which `matches` holds.
  template <class Predicate>
  void end(Predicate matches, SpanEnd how = SpanEnd::event) {
    std::erase_if(open_, [&](std::size_t i) {
      Span& span = spans_[i];
      if (span.node != stamp_.node || !matches(span)) return false;
      span.to = stamp_.at;
      span.last = index_;
      span.ended = how;
      // A caller's section is over with its deadline, whatever its node says later; see obs::Admitted.
      if (span.kind == SpanKind::section || span.kind == SpanKind::quarantine) endAtDeadline(span);
      return true;
    });
  }
  void endGrant(obs::KeyId key) {
    end([&](const Span& s) { return s.kind == SpanKind::grant && s.key == key; });
  }
  void endDelegation(obs::KeyId key) {
    end([&](const Span& s) { return s.kind == SpanKind::delegation && s.key == key; });
  }
  void endCall(SpanKind kind, obs::CallId call) {
    end([&](const Span& s) { return s.kind == kind && s.call == call; });
  }

  void endAtDeadline(Span& span) const {
    const obs::TrueInstant deadline = clocks_.whenReads(span.node, span.deadline, span.from);
    if (deadline >= span.to) return;
    span.to = deadline;
    span.last = kNoEvent;
    span.ended = SpanEnd::deadline;
  }

  const Clocks& clocks_;
  bool leases_ = false;  // whether memberships are leased in this run, which home maps are not
  std::vector<Span> spans_;
  std::vector<std::size_t> open_;  // into spans_, in the order in which they began
  EventIndex index_ = 0;
  obs::Stamp stamp_;
};

}  // namespace

Span asKnownAt(const Span& span, EventIndex event) {
  Span known = span;
  if (known.closed != kNoEvent && known.closed > event) known.closed = kNoEvent;
  const auto later = std::ranges::upper_bound(known.terms, event, {}, &Term::since);
  if (later != known.terms.begin()) {
    known.token = std::prev(later)->token;
    known.deadline = std::prev(later)->deadline;
  }
  return known;
}

std::vector<Span> spansOf(Run run, const Clocks& clocks) {
  SpanBuilder builder(run, clocks);
  for (EventIndex i = 0; i < run.size(); ++i) builder.on(i, run[i]);
  return builder.finish(run.empty() ? obs::TrueInstant{} : run.back().at);
}

std::string describe(const Span& span, const traces::Names& names) {
  const std::string key = traces::describe(span.key, names);
  const auto token = [&] {
    return fmt::format("({},{},{})", span.token.membership, span.token.incarnation, span.token.counter);
  };
  switch (span.kind) {
    case SpanKind::membership:
      return fmt::format("member of membership {}", span.number);
    case SpanKind::quarantine:
      return fmt::format("in quarantine as incarnation {}", span.number);
    case SpanKind::activation:
      return fmt::format("membership {} not active yet", span.number);
    case SpanKind::stopped:
      return fmt::format("stopped for home map {}", span.number);
    case SpanKind::grant:
      return fmt::format("home: {} is {}'s under {}", key, traces::describe(span.peer, names), token());
    case SpanKind::delegation:
      return fmt::format("{}delegate of {} under {}", span.closed != kNoEvent ? "closing " : "", key,
                         token());
    case SpanKind::section:
      return fmt::format("call {} inside on {}", span.call.value, key);
    case SpanKind::waiting:
      return fmt::format("call {} waits for {}", span.call.value, key);
    case SpanKind::commit:
      return fmt::format("txn {} under way on {}", span.txn.value, key);
    case SpanKind::down:
      return "down";
    case SpanKind::paused:
      return "paused";
    case SpanKind::cut:
      return fmt::format("link to {} cut", traces::describe(span.peer, names));
  }
  return "";
}

}  // namespace holdfast::explain
