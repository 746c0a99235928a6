// The network between nodes: it decides the fate of messages and never sees one.
//
// Contract: for each message the caller asks send() (an unordered datagram) or stream() (a segment of an
// ordered stream) and gets the true times at which copies arrive; carrying and delivering them is the
// caller's part. A fate is decided when the message is sent. A message that is under way when a link is cut
// was already decided; a caller that wants it lost too asks connected() again on delivery.
//
// Every draw is keyed by (link, n-th message on that link), counted separately for datagrams and for each
// channel of streams; messages that were lost or refused are counted like any other. So what happens on one
// link, and on one message, never changes the fate of another.
//
// A Network is a value: a copy continues exactly as the original would. After construction nothing allocates.
#pragma once

#include <array>
#include <boost/describe/class.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/ids.hpp"
#include "sim/random.hpp"
#include "sim/time.hpp"

namespace holdfast::sim {

/// How one direction of a link behaves. Probabilities are in parts per million, per message.
struct LinkOptions {
  /// One-way latency of a datagram or segment.
  LatencyDistribution latency{microseconds(100), microseconds(500), milliseconds(5), 10'000};
  /// A datagram vanishes; a stream's segment is sent again after `retransmit`.
  std::uint32_t lossPpm = 0;
  /// A datagram arrives twice, the second copy with a latency of its own. Streams have no duplicates.
  std::uint32_t duplicatePpm = 0;
  /// A datagram is held up by an extra delay in [0, reorderExtra], so that later ones overtake it.
  std::uint32_t reorderPpm = 0;
  Duration reorderExtra = milliseconds(10);
  /// What each loss of a stream's segment costs in delay.
  Duration retransmit = milliseconds(200);

  friend constexpr bool operator==(const LinkOptions&, const LinkOptions&) = default;
};

BOOST_DESCRIBE_STRUCT(LinkOptions, (), (latency, lossPpm, duplicatePpm, reorderPpm, reorderExtra, retransmit))

/// What becomes of one datagram.
struct Fate {
  /// Why nothing arrives: by chance, by a cut link, or by dropNext().
  enum class Loss : std::uint8_t { none, random, cut, directed };

  std::uint8_t copies = 0;  ///< 0, 1 or 2: how many entries of `at` are arrivals.
  Loss loss = Loss::none;   ///< none exactly when copies > 0.
  TrueInstant at[2]{};      ///< Arrivals: the original, then the duplicate, which may be the earlier.

  friend constexpr bool operator==(const Fate&, const Fate&) = default;
};

/// The links of a fixed set of nodes 0 ... nodeCount-1, every direction a link of its own. A link from a node
/// to itself always delivers at once, whatever was set for it. Functions that take a node outside the set do
/// nothing, and send() and stream() then report a cut link.
class Network {
 public:
  /// Channels of ordered streams on each link, numbered from 0.
  static constexpr std::uint32_t kStreamChannels = 4;
  /// After this many losses in a row a stream's segment gets through, so that no delay is unbounded.
  static constexpr std::uint32_t kMaxRetransmits = 16;

  Network() = default;
  Network(std::uint16_t nodeCount, std::uint64_t seed, const LinkOptions& defaults = {});

  std::uint16_t nodeCount() const { return nodeCount_; }

  /// Replaces the options of one direction, or of all links. Messages already counted stay counted.
  void setLink(NodeId from, NodeId to, const LinkOptions& options);
  void setAllLinks(const LinkOptions& options);
  const LinkOptions& link(NodeId from, NodeId to) const;

  /// Adds `extra` to the latency of all later messages of this direction, for a directed schedule; zero (or
  /// less) clears it. It replaces what an earlier call added.
  void addDelay(NodeId from, NodeId to, Duration extra);
  /// Loses the next `count` datagrams of this direction; zero clears it. A stream is not affected.
  void dropNext(NodeId from, NodeId to, std::uint32_t count);

  /// Cuts one direction, which also breaks its streams.
  void cut(NodeId from, NodeId to);
  /// Restores one direction. A broken stream stays broken until resetStream().
  void heal(NodeId from, NodeId to);
  /// Cuts both directions between every node of `a` and every node of `b`; a node in both is left alone with
  /// itself.
  void partition(std::span<const NodeId> a, std::span<const NodeId> b);
  /// The same for two sets of at most 64 nodes, bit i standing for node i.
  void partition(std::uint64_t a, std::uint64_t b);
  void healAll();
  /// Whether messages pass in this direction: not cut, both nodes within the set.
  bool connected(NodeId from, NodeId to) const;

  /// Decides the next datagram on the link.
  Fate send(TrueInstant now, NodeId from, NodeId to);

  /// Decides the next segment of an ordered stream: when it arrives, never before its predecessor on the same
  /// channel since the last reset; segments may share an instant, and then the caller keeps their order. A
  /// lost segment costs `retransmit` and holds up its successors, as a byte stream does. nullopt if the
  /// stream is broken or the channel does not exist. A stream breaks when its link is cut and stays broken
  /// after healing until resetStream(), so that what it delivers is always a gapless prefix of what was sent
  /// on it.
  std::optional<TrueInstant> stream(TrueInstant now, NodeId from, NodeId to, std::uint32_t channel = 0);

  /// Opens all channels of the link anew: nothing is ordered against what was sent before. If the link is
  /// still cut, the next stream() breaks it again. The epoch of the stream goes up by one.
  void resetStream(NodeId from, NodeId to);
  bool streamBroken(NodeId from, NodeId to) const;
  /// How often the link's streams were reset; lets a receiver tell segments of an older connection.
  std::uint32_t streamEpoch(NodeId from, NodeId to) const;

  /// Datagrams sent on the link so far, lost ones included.
  std::uint64_t sent(NodeId from, NodeId to) const;

 private:
  struct Channel {
    TrueInstant last{INT64_MIN};
    std::uint64_t sent = 0;
  };

  struct Link {
    LinkOptions options;
    Duration extraDelay{};
    std::uint64_t sent = 0;
    std::uint32_t dropNext = 0;
    std::uint32_t streamEpoch = 0;
    bool cut = false;
    bool streamBroken = false;
    std::array<Channel, kStreamChannels> channels{};
  };

  bool inside(NodeId from, NodeId to) const { return from.value < nodeCount_ && to.value < nodeCount_; }
  Link& at(NodeId from, NodeId to) { return links_[std::size_t{from.value} * nodeCount_ + to.value]; }
  const Link& at(NodeId from, NodeId to) const {
    return links_[std::size_t{from.value} * nodeCount_ + to.value];
  }

  std::uint16_t nodeCount_ = 0;
  KeyedRandom random_;
  std::vector<Link> links_;
};

/// One line of text with every option and its unit.
std::string describe(const LinkOptions& options);

}  // namespace holdfast::sim
