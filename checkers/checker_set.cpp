#include "checkers/checker_set.hpp"

namespace holdfast::checkers {

namespace {

template <class Subject, class Event>
concept Watches = requires(Subject& subject, const Stamp& stamp, const Event& event, const Context& context) {
  subject.on(stamp, event, context);
};

template <class Model, class Event>
concept Records = requires(Model& model, const Stamp& stamp, const Event& event) { model.on(stamp, event); };

template <class Subject>
concept Finishes =
    requires(Subject& subject, TrueInstant at, const Context& context) { subject.finish(at, context); };

/// Whether every id in the observation is dense enough to index a table with, or its kind's "none".
template <class Event>
constexpr bool plausible(const Stamp& stamp, const Event& event) {
  bool ok = stamp.node.value < CheckerSet::kMaxNodes;
  obs::forEachField(event, [&ok](std::string_view, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, CallId> || std::is_same_v<Field, TxnId>) {
      ok = ok && field.value <= CheckerSet::kMaxDenseId;
    } else if constexpr (std::is_same_v<Field, KeyId>) {
      ok = ok && (!field.valid() || field.value <= CheckerSet::kMaxDenseId);
    } else if constexpr (std::is_same_v<Field, NodeId>) {
      ok = ok && (!field.valid() || field.value < CheckerSet::kMaxNodes);
    }
  });
  return ok;
}

}  // namespace

CheckerSet::CheckerSet(const CheckerOptions& options) : options_(options) {
  history_.reserveNodes(options.nodes < kMaxNodes ? options.nodes : kMaxNodes);
}

void CheckerSet::on(const obs::Stamped& stamped) {
  const Stamp stamp{stamped.at, stamped.node};
  std::visit(
      [&]<class Event>(const Event& event) {
        if (!plausible(stamp, event)) {
          ++malformed_;
          return;
        }
        if constexpr (Records<History, Event>) history_.on(stamp, event);
        if constexpr (Records<Lineage, Event>) lineage_.on(stamp, event);
        const Context context{options_, history_, lineage_, findings_};
        std::apply(
            [&](auto&... checker) {
              const auto tell = [&](auto& one) {
                if constexpr (Watches<decltype(one), Event>) one.on(stamp, event, context);
              };
              (tell(checker), ...);
            },
            checkers_);
      },
      stamped.what);
}

void CheckerSet::finish(TrueInstant at) {
  const Context context{options_, history_, lineage_, findings_};
  std::apply(
      [&](auto&... checker) {
        const auto tell = [&](auto& one) {
          if constexpr (Finishes<decltype(one)>) one.finish(at, context);
        };
        (tell(checker), ...);
      },
      checkers_);
}

Verdict CheckerSet::verdict() const {
  return verdictOf(findings_.count(Severity::safety), findings_.count(Severity::liveness),
                   history_.admissions(), malformed_);
}

}  // namespace holdfast::checkers
