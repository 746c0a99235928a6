// What an acquisition costs, by the path it took (section 13): the figures of the cost table as measured.
//
// An acquisition is charged with everything that was done for its key from LockRequested to Admitted: unicast
// messages that carry the key, release entries made durable, and for a recovery the barrier messages of its
// node and the entries of the barrier it joined. Two callers that wait at once are both charged; a directed
// run with one caller gives the exact figure. Deliveries of control entries are counted where they are
// applied: a release reaches P-1 peers.
//
// Judged: a repeat under a live delegation costs nothing. It is a violation when a node asks the home for the
// key between a call and its cached admission although nobody else waited there and nothing was installed.
// CheckerOptions::maxMessages adds a bound for each path.
#pragma once

#include <array>

#include "checkers/context.hpp"
#include "checkers/counters.hpp"

namespace holdfast::checkers {

/// Sum, extremes and a distribution of small counts; values from 15 up share the last place.
struct Amount {
  std::uint64_t sum = 0;
  std::uint64_t least = UINT64_MAX;
  std::uint64_t most = 0;
  std::array<std::uint64_t, 16> histogram{};

  void add(std::uint64_t n) {
    sum += n;
    least = std::min(least, n);
    most = std::max(most, n);
    ++histogram[std::min<std::uint64_t>(n, histogram.size() - 1)];
  }
  void merge(const Amount& other);
  /// The value below or at which half of the cases lie.
  std::uint64_t median() const;
  friend bool operator==(const Amount&, const Amount&) = default;
};
BOOST_DESCRIBE_STRUCT(Amount, (), (sum, least, most, histogram))

/// True time from the call to its admission. Place i of the histogram counts waits of [2^(i-1), 2^i) ns,
/// place 0 those of none.
struct WaitTimes {
  std::int64_t sumNs = 0;
  std::int64_t mostNs = 0;
  std::array<std::uint64_t, 44> histogram{};

  void add(obs::Duration wait);
  void merge(const WaitTimes& other);
  friend bool operator==(const WaitTimes&, const WaitTimes&) = default;
};
BOOST_DESCRIBE_STRUCT(WaitTimes, (), (sumNs, mostNs, histogram))

/// The costs of all acquisitions by one path.
struct PathCost {
  std::uint64_t acquisitions = 0;
  Amount messages;         // unicast with the key: request, grant, deny, recall, hand-back
  Amount barrierMessages;  // barrier requests of the node and replies to it
  Amount releaseCommits;   // release entries of the key made durable
  Amount barrierEntries;   // entries of the barrier that a recovery joined
  WaitTimes wait;

  friend bool operator==(const PathCost&, const PathCost&) = default;
};
BOOST_DESCRIBE_STRUCT(PathCost, (),
                      (acquisitions, messages, barrierMessages, releaseCommits, barrierEntries, wait))

struct CostTable {
  PathCost cached;
  PathCost virgin;
  PathCost clean;
  PathCost recovery;
  std::uint64_t releases = 0;           // release entries made durable
  std::uint64_t releaseDeliveries = 0;  // applied at a peer
  std::uint64_t barrierEntries = 0;     // barrier entries made durable
  std::uint64_t barrierDeliveries = 0;  // applied at a peer
  std::uint64_t ambiguousRepeats = 0;   // cached admissions during which a request was sent, not judged

  PathCost& of(obs::Path path);
  const PathCost& of(obs::Path path) const { return const_cast<CostTable&>(*this).of(path); }
  void merge(const CostTable& other);
  friend bool operator==(const CostTable&, const CostTable&) = default;
};
BOOST_DESCRIBE_STRUCT(CostTable, (),
                      (cached, virgin, clean, recovery, releases, releaseDeliveries, barrierEntries,
                       barrierDeliveries, ambiguousRepeats))

class Cost {
 public:
  static constexpr Checker kChecker = Checker::cost;

  const CostTable& table() const { return table_; }

  void on(const Stamp& stamp, const obs::LockRequested& event, const Context& context);
  void on(const Stamp& stamp, const obs::Admitted& event, const Context& context);
  void on(const Stamp& stamp, const obs::Installed& event, const Context& context);
  void on(const Stamp& stamp, const obs::MessageSent& event, const Context& context);
  void on(const Stamp& stamp, const obs::ControlAppended& event, const Context& context);
  void on(const Stamp& stamp, const obs::Applied& event, const Context& context);
  /// LH-5: that it is observed at all is too much.
  void on(const Stamp& stamp, const obs::UnlockedWritesChecked& event, const Context& context);

 private:
  struct KeyCost {
    std::uint32_t messages = 0;
    std::uint32_t releases = 0;
  };
  struct LocalCost {
    std::uint32_t requests = 0;
    std::uint32_t installs = 0;
    std::uint32_t calls = 0;
  };
  /// The counters as they stood when the call was made.
  struct Start {
    bool known = false;
    std::uint32_t messages = 0;
    std::uint32_t releases = 0;
    std::uint32_t barrierMessages = 0;
    LocalCost local;
  };

  /// Positions beyond this are not remembered: no run is that long.
  static constexpr Position kMaxPosition = 1U << 26;

  CostTable table_;
  FlatTable<KeyCost> keys_;
  NodeMatrix<LocalCost> locals_;
  FlatTable<std::uint32_t> barrierMessages_;         // by acquirer
  FlatTable<Start> starts_;                          // by call
  FlatTable<std::vector<std::uint8_t>> entryKinds_;  // [origin][position]: 0 or 1 + obs::EntryKind
};

}  // namespace holdfast::checkers
