#include "sim/network.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace holdfast::sim {
namespace {

// Streams of the draws made here. They are arbitrary but fixed: changing one changes every recorded run.
constexpr std::uint64_t kDatagramStream = 0x6e65742e64617461ULL;  // "net.data"
constexpr std::uint64_t kSegmentStream = 0x6e65742e7365676dULL;   // "net.segm"

// What is drawn for one message; each gets bits of its own from the message's draw.
enum Purpose : std::uint64_t {
  latency,
  loss,
  duplicate,
  duplicateLatency,
  reorder,
  reorderDelay,
  retransmit
};

/// Names a link the same way whatever the number of nodes.
std::uint64_t linkEntity(NodeId from, NodeId to) { return (std::uint64_t{from.value} << 16) | to.value; }

Duration nonNegative(Duration d) { return std::max(d, Duration{}); }

const LinkOptions kNoLink{};

}  // namespace

Network::Network(std::uint16_t nodeCount, std::uint64_t seed, const LinkOptions& defaults)
    : nodeCount_(nodeCount), random_{seed}, links_(std::size_t{nodeCount} * nodeCount) {
  setAllLinks(defaults);
}

void Network::setLink(NodeId from, NodeId to, const LinkOptions& options) {
  if (inside(from, to)) at(from, to).options = options;
}

void Network::setAllLinks(const LinkOptions& options) {
  for (Link& link : links_) link.options = options;
}

const LinkOptions& Network::link(NodeId from, NodeId to) const {
  return inside(from, to) ? at(from, to).options : kNoLink;
}

void Network::addDelay(NodeId from, NodeId to, Duration extra) {
  if (inside(from, to)) at(from, to).extraDelay = nonNegative(extra);
}

void Network::dropNext(NodeId from, NodeId to, std::uint32_t count) {
  if (inside(from, to)) at(from, to).dropNext = count;
}

void Network::cut(NodeId from, NodeId to) {
  if (!inside(from, to) || from == to) return;
  at(from, to).cut = true;
  at(from, to).streamBroken = true;
}

void Network::heal(NodeId from, NodeId to) {
  if (inside(from, to)) at(from, to).cut = false;
}

void Network::partition(std::span<const NodeId> a, std::span<const NodeId> b) {
  for (const NodeId x : a) {
    for (const NodeId y : b) {
      cut(x, y);
      cut(y, x);
    }
  }
}

void Network::partition(std::uint64_t a, std::uint64_t b) {
  const std::uint16_t nodes = std::min<std::uint16_t>(nodeCount_, 64);
  for (std::uint16_t x = 0; x < nodes; ++x) {
    for (std::uint16_t y = 0; y < nodes; ++y) {
      if ((a >> x & 1) != 0 && (b >> y & 1) != 0) {
        cut(NodeId{x}, NodeId{y});
        cut(NodeId{y}, NodeId{x});
      }
    }
  }
}

void Network::healAll() {
  for (Link& link : links_) link.cut = false;
}

bool Network::connected(NodeId from, NodeId to) const { return inside(from, to) && !at(from, to).cut; }

Fate Network::send(TrueInstant now, NodeId from, NodeId to) {
  Fate fate;
  if (!inside(from, to)) {
    fate.loss = Fate::Loss::cut;
    return fate;
  }
  Link& link = at(from, to);
  const std::uint64_t index = link.sent++;
  if (from == to) {
    fate.copies = 1;
    fate.at[0] = now;
    return fate;
  }
  if (link.cut) {
    fate.loss = Fate::Loss::cut;
    return fate;
  }
  if (link.dropNext != 0) {
    --link.dropNext;
    fate.loss = Fate::Loss::directed;
    return fate;
  }
  const LinkOptions& options = link.options;
  const std::uint64_t draw = random_.bits(kDatagramStream, linkEntity(from, to), index);
  if (options.lossPpm != 0 && scaleChance(mix(draw, Purpose::loss), options.lossPpm)) {
    fate.loss = Fate::Loss::random;
    return fate;
  }
  Duration delay = options.latency.sample(mix(draw, Purpose::latency));
  if (options.reorderPpm != 0 && scaleChance(mix(draw, Purpose::reorder), options.reorderPpm)) {
    delay = delay + scaleBetween(mix(draw, Purpose::reorderDelay), Duration{}, options.reorderExtra);
  }
  fate.copies = 1;
  fate.at[0] = now + nonNegative(delay) + link.extraDelay;
  if (options.duplicatePpm != 0 && scaleChance(mix(draw, Purpose::duplicate), options.duplicatePpm)) {
    const Duration second = options.latency.sample(mix(draw, Purpose::duplicateLatency));
    fate.copies = 2;
    fate.at[1] = now + nonNegative(second) + link.extraDelay;
  }
  return fate;
}

std::optional<TrueInstant> Network::stream(TrueInstant now, NodeId from, NodeId to, std::uint32_t channel) {
  if (!inside(from, to) || channel >= kStreamChannels) return std::nullopt;
  Link& link = at(from, to);
  Channel& state = link.channels[channel];
  const std::uint64_t index = state.sent++;
  if (from == to) return now;
  if (link.cut) link.streamBroken = true;
  if (link.streamBroken) return std::nullopt;
  const LinkOptions& options = link.options;
  const std::uint64_t entity = linkEntity(from, to) << 8 | channel;
  const std::uint64_t draw = random_.bits(kSegmentStream, entity, index);
  Duration delay = nonNegative(options.latency.sample(mix(draw, Purpose::latency)));
  if (options.lossPpm != 0) {
    std::uint64_t attempt = 0;
    while (attempt < kMaxRetransmits &&
           scaleChance(mix(draw, Purpose::retransmit + attempt), options.lossPpm)) {
      delay = delay + nonNegative(options.retransmit);
      ++attempt;
    }
  }
  state.last = std::max(state.last, now + delay + link.extraDelay);
  return state.last;
}

void Network::resetStream(NodeId from, NodeId to) {
  if (!inside(from, to)) return;
  Link& link = at(from, to);
  link.streamBroken = false;
  ++link.streamEpoch;
  for (Channel& channel : link.channels) channel.last = {INT64_MIN};
}

bool Network::streamBroken(NodeId from, NodeId to) const {
  return !inside(from, to) || at(from, to).streamBroken;
}

std::uint32_t Network::streamEpoch(NodeId from, NodeId to) const {
  return inside(from, to) ? at(from, to).streamEpoch : 0;
}

std::uint64_t Network::sent(NodeId from, NodeId to) const { return inside(from, to) ? at(from, to).sent : 0; }

std::string describe(const LinkOptions& options) {
  return fmt::format(
      "latency {}; loss {} ppm; duplicate {} ppm; reorder {} ppm by up to {} ns; retransmit after {} ns",
      describe(options.latency), options.lossPpm, options.duplicatePpm, options.reorderPpm,
      options.reorderExtra.ns, options.retransmit.ns);
}

}  // namespace holdfast::sim
