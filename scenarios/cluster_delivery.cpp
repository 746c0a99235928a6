// Messages: what becomes of them between two nodes, and when the connection between two nodes is up.
#include <algorithm>
#include <utility>

#include "scenarios/cluster.hpp"
#include "scenarios/cluster_draws.hpp"
#include "scenarios/cluster_observe.hpp"

namespace holdfast::scenarios {
namespace {

KeyId keyOf(const protocol::Message& message) {
  return std::visit(
      [](const auto& m) {
        if constexpr (requires { m.key; }) {
          return m.key;
        } else {
          return KeyId::none();
        }
      },
      message);
}

bool goesOnStream(MessageKind kind) {
  return kind == MessageKind::subscribe || kind == MessageKind::logFrame || kind == MessageKind::logGap ||
         kind == MessageKind::logHead;
}

}  // namespace

// ---- Sending ----------------------------------------------------------------------------------------------

void Cluster::send(NodeId from, Machine& m, protocol::Send& message) {
  const NodeId to = message.to;
  if (!known(to) || to == from) return;
  const MessageKind kind = protocol::kindOf(message.message);
  const KeyId key = keyOf(message.message);
  const std::uint64_t nth = ++linkSends_[link(from, to)];
  if (rejects(from, m, to, kind, key, nth)) return;

  const std::uint64_t id = ++messageCount_;
  ++statistics_.messages;
  ++statistics_.byKind[static_cast<std::size_t>(kind)];
  observe(from, obs::MessageSent{id, to, kind, key});
  if (!directives_.empty() &&
      takeDirective(Directive::Kind::dropMessage, from, to, static_cast<std::uint8_t>(kind))) {
    lose(from, to, id, kind, obs::LossReason::random);
    return;
  }
  const std::uint64_t tie = draws::tie(draws::kMessageTie, draws::pair(from.value, to.value), nth);
  if (goesOnStream(kind)) {
    const auto at = network_.stream(now_, from, to);
    if (!at) {
      lose(from, to, id, kind, obs::LossReason::cut);
      return;
    }
    // Segments of one instant keep their order by arriving a nanosecond apart.
    TrueInstant& last = streamLast_[link(from, to)];
    last = std::max(*at, last + sim::nanoseconds(1));
    post(from, to, id, std::move(message.message), last, tie, network_.streamEpoch(from, to));
    return;
  }
  const sim::Fate fate = network_.send(now_, from, to);
  if (fate.copies == 0) {
    lose(from, to, id, kind,
         fate.loss == sim::Fate::Loss::cut ? obs::LossReason::cut : obs::LossReason::random);
    return;
  }
  const std::uint32_t slot = post(from, to, id, std::move(message.message), fate.at[0], tie, kDatagram);
  if (fate.copies > 1) postAgain(slot, to, fate.at[1], tie + 1);
  if (directives_.empty()) return;
  if (const Directive* twice =
          findDirective(Directive::Kind::duplicateMessage, from, to, static_cast<std::uint8_t>(kind))) {
    postAgain(slot, to, fate.at[0] + twice->duration, tie + 2);
  }
}

bool Cluster::rejects(NodeId from, Machine& m, NodeId to, MessageKind kind, KeyId key, std::uint64_t nth) {
  Event rejection{EventKind::rejected,      from,      to,
                  m.process.incarnations(), key.value, static_cast<std::uint64_t>(kind)};
  if (!directives_.empty()) {
    if (Directive* const refusal = findDirective(Directive::Kind::rejectSend, from, NodeId::none(),
                                                 static_cast<std::uint8_t>(kind))) {
      const Duration later = refusal->duration;
      spend(*refusal);
      reject(rejection, later, nth);
      return true;
    }
  }
  if (m.bent.sendFailurePpm == 0 || goesOnStream(kind)) return false;
  const std::uint64_t draw = random_.bits(draws::kRejection, draws::pair(from.value, to.value), nth);
  if (!sim::scaleChance(draw, m.bent.sendFailurePpm)) return false;
  // Half of them at once, as a full queue does it; half later, as a broken connection does.
  const bool atOnce = sim::scaleChance(sim::mix(draw, 1), sim::kPpmOne / 2);
  const Duration later =
      atOnce ? Duration{}
             : sim::scaleBetween(sim::mix(draw, 2), sim::milliseconds(1), sim::milliseconds(200));
  reject(rejection, later, nth);
  return true;
}

void Cluster::reject(const Event& rejection, Duration later, std::uint64_t nth) {
  lose(rejection.node, rejection.peer, 0, static_cast<MessageKind>(rejection.argument),
       obs::LossReason::rejected);
  if (later <= Duration{}) {
    ready_.push_back(rejection);
    return;
  }
  const std::uint64_t whom = draws::pair(rejection.node.value, rejection.peer.value);
  queue_.pushKeyed(now_ + later, draws::tie(draws::kRejectionTie, whom, nth), rejection);
}

std::uint32_t Cluster::post(NodeId from, NodeId to, std::uint64_t id, protocol::Message&& message,
                            TrueInstant at, std::uint64_t tie, std::uint64_t epoch) {
  const std::uint32_t slot = takeSlot();
  Slot& kept = slots_[slot];
  if (auto* const deliver = std::get_if<protocol::Deliver>(&kept.input)) {
    deliver->from = from;
    deliver->message = std::move(message);
  } else {
    kept.input = protocol::Deliver{from, std::move(message)};
  }
  kept.message = id;
  kept.references = 1;
  queue_.pushKeyed(at, tie, {EventKind::deliver, to, from, 0, slot, epoch});
  return slot;
}

void Cluster::postAgain(std::uint32_t slot, NodeId to, TrueInstant at, std::uint64_t tie) {
  ++slots_[slot].references;
  const NodeId from = std::get<protocol::Deliver>(slots_[slot].input).from;
  queue_.pushKeyed(at, tie, {EventKind::deliver, to, from, 0, slot, kDatagram});
}

void Cluster::injectMessage(NodeId from, NodeId to, protocol::Message message, Duration after) {
  if (!known(to)) return;
  const std::uint64_t id = ++messageCount_;
  const MessageKind kind = protocol::kindOf(message);
  observe(from, obs::MessageSent{id, to, kind, keyOf(message)});
  post(from, to, id, std::move(message), now_ + after, draws::tie(draws::kMessageTie, 0xffffffff, id),
       kInjected);
}

// ---- Arriving ---------------------------------------------------------------------------------------------

void Cluster::arrive(const Event& event) {
  const NodeId from = event.peer;
  const NodeId to = event.node;
  const Slot& slot = slots_[event.slot];
  const MessageKind kind = protocol::kindOf(std::get<protocol::Deliver>(slot.input).message);
  bool passed = true;
  if (event.argument == kDatagram) {
    passed = network_.connected(from, to);
  } else if (event.argument != kInjected) {
    passed = !network_.streamBroken(from, to) && event.argument == network_.streamEpoch(from, to);
  }
  if (!passed) {
    lose(from, to, slot.message, kind, obs::LossReason::cut);
    dropSlot(event.slot);
    return;
  }
  if (!directives_.empty() &&
      findDirective(Directive::Kind::holdMessage, from, to, static_cast<std::uint8_t>(kind)) != nullptr) {
    heldMessages_.push_back(event);
    return;
  }
  Event arrived = event;
  arrived.kind = EventKind::arrived;
  if (machine(to).process.crashed()) {
    drop(arrived);
  } else {
    handOver(machine(to), arrived);
  }
}

void Cluster::lose(NodeId from, NodeId to, std::uint64_t id, MessageKind kind, obs::LossReason why) {
  observe(from, obs::MessageLost{id, to, kind, why});
}

// ---- Directives about messages ----------------------------------------------------------------------------

void Cluster::dropNext(NodeId from, NodeId to, MessageKind kind, std::uint32_t count) {
  directives_.push_back({Directive::Kind::dropMessage, from, to, static_cast<std::uint8_t>(kind), count, {}});
}

void Cluster::holdMessages(NodeId from, NodeId to, MessageKind kind) {
  directives_.push_back(
      {Directive::Kind::holdMessage, from, to, static_cast<std::uint8_t>(kind), kForever, {}});
}

std::size_t Cluster::releaseHeld(NodeId from, NodeId to, MessageKind kind) {
  std::erase_if(directives_, [&](const Directive& d) {
    return d.kind == Directive::Kind::holdMessage && d.node == from && d.peer == to &&
           d.what == static_cast<std::uint8_t>(kind);
  });
  return releaseIf([&](const Event& event) {
    const auto& deliver = std::get<protocol::Deliver>(slots_[event.slot].input);
    return event.peer == from && event.node == to && protocol::kindOf(deliver.message) == kind;
  });
}

template <class Which>
std::size_t Cluster::releaseIf(Which&& which) {
  std::size_t released = 0;
  std::vector<Event> kept;
  for (Event event : heldMessages_) {
    if (!which(event)) {
      kept.push_back(event);
      continue;
    }
    ++released;
    event.kind = EventKind::arrived;
    ready_.push_back(event);
  }
  heldMessages_ = std::move(kept);
  return released;
}

void Cluster::releaseAllHeld() {
  releaseIf([](const Event&) { return true; });
}

void Cluster::duplicate(NodeId from, NodeId to, MessageKind kind, Duration after) {
  std::erase_if(directives_, [&](const Directive& d) {
    return d.kind == Directive::Kind::duplicateMessage && d.node == from && d.peer == to &&
           d.what == static_cast<std::uint8_t>(kind);
  });
  if (after <= Duration{}) return;
  directives_.push_back(
      {Directive::Kind::duplicateMessage, from, to, static_cast<std::uint8_t>(kind), kForever, after});
}

void Cluster::failNextSend(NodeId node, MessageKind kind, Duration later) {
  directives_.push_back(
      {Directive::Kind::rejectSend, node, NodeId::none(), static_cast<std::uint8_t>(kind), 1, later});
}

void Cluster::delayLink(NodeId from, NodeId to, Duration extra) {
  if (!known(from) || !known(to)) return;
  manualDelays_[link(from, to)] = std::max(extra, Duration{});
  bendNetwork();
}

// ---- Cuts and connections ---------------------------------------------------------------------------------

void Cluster::cut(NodeId from, NodeId to) {
  if (!known(from) || !known(to) || from == to) return;
  manualCuts_[link(from, to)] = true;
  applyCuts();
}

void Cluster::heal(NodeId from, NodeId to) {
  if (!known(from) || !known(to)) return;
  manualCuts_[link(from, to)] = false;
  applyCuts();
}

void Cluster::partition(const std::vector<NodeId>& side) {
  for (const NodeId a : side) {
    for (std::uint16_t i = 0; i < nodeCount(); ++i) {
      const NodeId b{i};
      if (!known(a) || std::find(side.begin(), side.end(), b) != side.end()) continue;
      manualCuts_[link(a, b)] = true;
      manualCuts_[link(b, a)] = true;
    }
  }
  applyCuts();
}

void Cluster::isolate(NodeId node) { partition({node}); }

void Cluster::healAll() {
  std::fill(manualCuts_.begin(), manualCuts_.end(), false);
  applyCuts();
}

void Cluster::applyCuts() {
  std::vector<bool> wanted = manualCuts_;
  for (const std::uint32_t index : activeFaults_) addCuts(plan_.faults[index], wanted);
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    for (std::uint16_t j = 0; j < nodeCount(); ++j) {
      const NodeId from{i};
      const NodeId to{j};
      const bool cutNow = wanted[link(from, to)];
      if (cutNow == cutsInForce_[link(from, to)]) continue;
      cutsInForce_[link(from, to)] = cutNow;
      if (cutNow) {
        network_.cut(from, to);
        observe(from, obs::LinkCut{to});
      } else {
        network_.heal(from, to);
        observe(from, obs::LinkHealed{to});
        scheduleConnect(from, to);
      }
    }
  }
}

void Cluster::addCuts(const Fault& fault, std::vector<bool>& cuts) const {
  const auto side = [&](NodeId node) {
    return fault.kind == FaultKind::isolate
               ? node == fault.node
               : node.value < 64 && (static_cast<std::uint64_t>(fault.amount) >> node.value & 1U) != 0;
  };
  if (fault.kind == FaultKind::cutOneWay) {
    cuts[link(fault.node, fault.peer)] = true;
  } else if (fault.kind == FaultKind::partition || fault.kind == FaultKind::isolate) {
    for (std::uint16_t i = 0; i < nodeCount(); ++i) {
      for (std::uint16_t j = 0; j < nodeCount(); ++j) {
        if (side(NodeId{i}) != side(NodeId{j})) cuts[link(NodeId{i}, NodeId{j})] = true;
      }
    }
  }
}

bool Cluster::passes(NodeId a, NodeId b) const {
  return network_.connected(a, b) && network_.connected(b, a) && !machine(a).process.crashed() &&
         !machine(b).process.crashed();
}

void Cluster::scheduleConnect(NodeId a, NodeId b) {
  if (b < a) std::swap(a, b);
  if (!passes(a, b)) return;
  const std::uint32_t number = ++connects_[link(a, b)];
  queue_.pushKeyed(now_ + setup_.options.delays.reconnect,
                   draws::tie(draws::kConnectTie, draws::pair(a.value, b.value), number),
                   {EventKind::connect, a, b, 0, number, 0});
}

void Cluster::connect(const Event& event) {
  const NodeId a = event.node;
  const NodeId b = event.peer;
  if (event.slot != connects_[link(a, b)] || !passes(a, b)) return;
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
    network_.resetStream(from, to);
    streamLast_[link(from, to)] = now_;
  }
  // Both ends learn of it before anything can arrive over it.
  readyInput(a, protocol::PeerUp{b});
  readyInput(b, protocol::PeerUp{a});
}

void Cluster::breakStreams(NodeId node) {
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    const NodeId peer{i};
    if (peer == node) continue;
    for (const auto& [from, to] : {std::pair{node, peer}, std::pair{peer, node}}) {
      if (cutsInForce_[link(from, to)]) continue;
      network_.cut(from, to);
      network_.heal(from, to);
    }
  }
}

}  // namespace holdfast::scenarios
