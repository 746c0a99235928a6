// Interned node values and their memoised local steps.
//
// What a node does with an input depends on the node and the input alone, so (node, input) -> (node after,
// effects) is computed once by the real protocol code and then looked up. A node is named by a number that
// stands for all values of equal canonical hash; the first one met represents them. Its clock may read
// otherwise than that of the node it stands for, which no message can tell (CK-2) and which the observations'
// readings are taken relative to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "explore/configuration.hpp"
#include "explore/images.hpp"
#include "explore/interned.hpp"
#include "observations/observation.hpp"
#include "protocol/directory.hpp"
#include "protocol/node.hpp"

namespace holdfast::explore {

/// Where an input comes from, which decides what can happen to it on its way.
enum class ItemKind : std::uint8_t {
  wake,
  tick,
  local,     // of a client, or the transport's PeerUp; never under way
  datagram,  // unordered; may be lost or duplicated
  stream,    // in order for each pair of nodes; broken by a cut or a crash
  commit,    // unordered; may abort
  persist,   // in order for each node
  apply,     // one at a time for each node and origin
  settle,    // no input: what the node has written is durable, and writes are counted anew
};

/// By what a value came about: the step of a node with an input, or the start of a node.
struct Origin {
  std::uint32_t node = 0;    // before the step; of a start: number of what was durable
  std::uint32_t item = 0;    // given to it
  std::uint16_t place = 0;   // of an item: among those that the step sent the same way (sentAlike)
  std::uint8_t started = 0;  // of a node that has just started: its id + 1
};

/// An input that a node may get, interned.
struct Item {
  ItemKind kind = ItemKind::local;
  std::uint8_t node = 0;  // who gets it
  std::uint8_t from = 0;  // datagram and stream: the sender; apply: the origin
  protocol::Input input;
  protocol::LogEntry entry;        // commit only
  protocol::DurableRecord record;  // persist only
  std::uint64_t hash = 0;
  std::uint8_t key = 0xff;            // that a datagram or a commit is about; all ones: none, or several
  std::optional<Origin> origin = {};  // of what a step has brought under way
  Images images = {};
};

/// Whether two items that one step brings under way are told apart by their order alone.
inline bool sentAlike(const Item& a, const Item& b) {
  return a.kind == b.kind && a.node == b.node && a.from == b.from && a.key == b.key;
}

/// A node with the records on its disk, which its driver keeps for it.
struct StoredNode {
  std::optional<protocol::Node> node;
  protocol::DurableMembership records;
  std::array<std::uint8_t, protocol::kRecordKindCount> written{};  // since it started: names the next write
  obs::MonotonicInstant now;
  std::uint64_t hash = 0;
  std::uint16_t wakeIn = 0;  // ticks until it wants a Wake; 0: due; kNever: not within the horizon
  Origin origin;
  Images images;
};
inline constexpr std::uint16_t kNever = 0xffff;

/// What a crash leaves.
struct StoredDurable {
  protocol::Durable durable;
  std::uint64_t hash = 0;
  std::uint32_t crash = 0;  // number of the first Crash that left it; of no use without renamings
  Images images;
};

/// A node that crashed, and the commits that had reached its disk unnoticed.
struct Crash {
  std::uint32_t node = 0;
  std::uint8_t id = 0;
  std::vector<std::uint32_t> survivors;
};

/// A node's step, and what it brings under way.
struct LocalStep {
  std::uint32_t before = 0;
  std::uint32_t item = 0;
  std::uint32_t node = 0;
  obs::MonotonicInstant now;
  std::vector<std::uint32_t> items;
  std::vector<obs::Observation> observations;
};

class NodeTable {
 public:
  /// `renamings`: of a symmetric exploration.
  explicit NodeTable(const Configuration& configuration, std::size_t renamings = 0);

  const protocol::Directory& directory() const { return directory_; }
  const protocol::NodeSetup& setup(std::uint8_t node) const { return setups_[node]; }
  const StoredNode& node(std::uint32_t number) const { return nodes_[number]; }
  const StoredDurable& durable(std::uint32_t number) const { return durables_[number]; }
  const Item& item(std::uint32_t number) const { return items_[number]; }

  std::uint32_t addItem(Item item);
  /// What is durable at a node that was never started.
  std::uint32_t blank() const { return blank_; }
  /// A node that starts now from what is durable; its Boot is a step of its own.
  std::uint32_t start(std::uint8_t node, std::uint32_t durable);
  /// What a crash of the node leaves, with the commits that had reached the disk unnoticed.
  std::uint32_t crash(std::uint32_t number, std::uint8_t node, const std::vector<std::uint32_t>& survivors);

  const LocalStep& step(std::uint32_t node, std::uint32_t item);

  // The hashes of values in which what grows without end counts by its order.
  std::uint64_t renumberedNode(std::uint32_t number, protocol::Renumbering& numbers) const;
  std::uint64_t renumberedDurable(std::uint32_t number, protocol::Renumbering& numbers) const;
  std::uint64_t renumberedItem(std::uint32_t number, protocol::Renumbering& numbers) const;

  const Crash& crashOf(std::uint32_t number) const { return crashes_[number]; }
  /// Calls visit(step), or visit(crash), for all that were computed, by `visit` itself too; on one thread.
  template <class Visit>
  void eachStep(const Visit& visit) const {
    steps_.each([&](std::uint32_t number) { visit(steps_[number]); });
  }
  template <class Visit>
  void eachCrash(const Visit& visit) const {
    crashes_.each([&](std::uint32_t number) { visit(crashes_[number]); });
  }

  /// What a node's wall clock reads, always.
  static constexpr obs::WallInstant kWall{kTick.ns * 1'000'000};
  /// What the monotonic clock of a node reads when it starts: offsets between clocks are arbitrary (CK-3).
  static obs::MonotonicInstant startReading(std::uint8_t node) {
    return {kTick.ns * (1'000 + 100 * std::int64_t{node})};
  }

  std::size_t nodes() const { return nodes_.size(); }
  std::size_t steps() const { return steps_.size(); }
  std::size_t items() const { return items_.size(); }
  std::size_t crashes() const { return crashes_.size(); }
  std::size_t bytes() const;

 private:
  /// `numbers`: null for what grows without end as it is.
  std::uint64_t hashOfNode(const StoredNode& stored, protocol::Renumbering* numbers) const;
  std::uint64_t hashOfDurable(const protocol::Durable& durable, protocol::Renumbering* numbers) const;
  std::uint32_t addNode(StoredNode&& stored);
  std::uint32_t addDurable(protocol::Durable durable, std::uint32_t crash);

  std::size_t renamings_ = 0;
  sim::Duration horizon_;
  bool fixed_;               // membership: no records but the incarnation
  bool promptDisk_ = false;  // what is written is durable within the step
  bool prompt_;              // nothing is under way while clocks tick
  protocol::Directory directory_;
  std::vector<protocol::NodeSetup> setups_;
  Interned<StoredNode> nodes_;
  Interned<StoredDurable> durables_;
  Interned<Item> items_;
  Interned<LocalStep> steps_;
  Interned<Crash> crashes_;  // kept where there are renamings
  std::uint32_t blank_ = 0;
};

}  // namespace holdfast::explore
