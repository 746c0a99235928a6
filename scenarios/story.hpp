// Directed scenarios as coroutines: who does what, when, and what is then observed.
//
//   ScenarioResult inFlightCommit(ScenarioContext& context) {
//     Story story(context, {.nodes = {"A", "B", "C"}, .keys = {{"k", "A"}}});   // k is homed at A
//     return story.run([&]() -> Task<> {
//       const LockOutcome lock = co_await story.node("B").lock("k", {.lease = 5_s});
//       story.expectEqual(lock.path, obs::Path::virgin, "the path of the first admission");
//       story.cluster().setCommitDelay(story.id("B"), 3_s);
//       const Pending<LockOutcome> waiting = story.node("C").lock("k");          // asks now
//       const TxnOutcome written = co_await story.node("B").write(lock, put(150));
//       story.expect(written.committed, "the write in flight settles");
//       const LockOutcome next = co_await waiting.answer();                      // waits now
//       ...
//     });
//   }
//
// Contract: the story owns a cluster and a virtual Asio context and drives both in the order of true time; at
// one instant the script's timers come first, then the cluster's events. A call is made when the function is
// called; what it returns can be awaited, now or later. Every wait ends: a call is answered by the node, or
// ends as `lost` when the node dies, or when the story's time limit is reached. Latencies are constant unless
// the options say otherwise, so that a story can name instants.
//
// g++ 12 miscompiles initializer lists inside a co_await expression; put() and its like avoid them.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "scenarios/cluster.hpp"
#include "scenarios/scenario.hpp"
#include "sim/asio/awaitable.hpp"

namespace holdfast::scenarios {

template <class T = void>
using Task = sim::Awaitable<T>;

inline namespace literals {
constexpr Duration operator""_s(unsigned long long n) { return sim::seconds(static_cast<std::int64_t>(n)); }
constexpr Duration operator""_ms(unsigned long long n) {
  return sim::milliseconds(static_cast<std::int64_t>(n));
}
constexpr Duration operator""_us(unsigned long long n) {
  return sim::microseconds(static_cast<std::int64_t>(n));
}
constexpr Duration operator""_ns(unsigned long long n) { return {static_cast<std::int64_t>(n)}; }
constexpr Duration operator""_min(unsigned long long n) { return sim::minutes(static_cast<std::int64_t>(n)); }
constexpr Duration operator""_h(unsigned long long n) { return sim::hours(static_cast<std::int64_t>(n)); }
}  // namespace literals

// ---- What is asked and answered ---------------------------------------------------------------------------

struct LockCall {
  Duration wait = sim::seconds(10);
  Duration lease = sim::seconds(5);
  bool hold = false;
  std::uint8_t worker = 0;  ///< The thread that the call arrives on (BD-5).
};

/// An admission, or why there was none; also the handle of what follows.
struct LockOutcome {
  obs::CallId call;
  KeyId key;
  obs::ErrorClass error = obs::ErrorClass::none;
  Cause cause = Cause::none;
  obs::Path path = obs::Path::cached;
  obs::Token token;
  Duration lease;     ///< What the node said the handle is good for.
  TrueInstant at;     ///< When the answer came.
  bool lost = false;  ///< The node died first.

  bool admitted() const { return !lost && error == obs::ErrorClass::none; }
};

struct ReadOutcome {
  obs::FieldMask present = 0;
  obs::FieldValues values{};
  bool lost = false;

  bool has(std::size_t field) const { return (present >> field & 1U) != 0; }
};

/// The answer to a stage or to a submission.
struct TxnOutcome {
  obs::TxnId txn;
  bool staged = false;
  bool committed = false;
  obs::ErrorClass error = obs::ErrorClass::none;
  Cause cause = Cause::none;
  TrueInstant at;
  bool lost = false;
};

/// One write, made by put(), patch(), increment() or erase().
struct WriteSpec {
  obs::WriteOp op = obs::WriteOp::put;
  obs::FieldMask fields = obs::kAllFields;
  obs::FieldValues values{};
  bool callerStamp = false;
  obs::Timestamp stamp;

  /// The same write with a timestamp that the caller gives (LW-2, L-1b).
  WriteSpec stamped(obs::Timestamp at) const {
    WriteSpec write = *this;
    write.callerStamp = true;
    write.stamp = at;
    return write;
  }
};

constexpr WriteSpec put(std::int64_t x, std::int64_t y = 0, std::int64_t z = 0, std::int64_t w = 0) {
  return {obs::WriteOp::put, obs::kAllFields, {x, y, z, w}, false, {}};
}
constexpr WriteSpec patch(std::size_t field, std::int64_t value) {
  WriteSpec write{obs::WriteOp::patch, static_cast<obs::FieldMask>(1U << field), {}, false, {}};
  write.values[field] = value;
  return write;
}
constexpr WriteSpec increment(std::size_t field, std::int64_t by) {
  WriteSpec write = patch(field, by);
  write.op = obs::WriteOp::increment;
  return write;
}
constexpr WriteSpec erase() { return {obs::WriteOp::erase, obs::kAllFields, {}, false, {}}; }

/// An answer that is under way. `co_await` a temporary one directly, a named one through answer().
template <class T>
class Pending {
 public:
  explicit Pending(std::shared_ptr<sim::Completion<T>> completion) : completion_(std::move(completion)) {}

  /// For `co_await pending.answer()`. An answer can be awaited once.
  Pending answer() const { return *this; }
  bool answered() const { return completion_->completed(); }

  template <class Token>
    requires(!std::is_pointer_v<std::remove_cvref_t<Token>>)
  auto operator()(Token&& token) const {
    return completion_->wait(std::forward<Token>(token));
  }

 private:
  std::shared_ptr<sim::Completion<T>> completion_;
};

// ---- The story --------------------------------------------------------------------------------------------

/// A key of a story: the name it goes by there, and the node that is to be its home. Some record whose home
/// that is gets chosen; any record when `home` is empty. `bytes`: its key is a string of bytes, not of
/// characters.
struct StoryKey {
  std::string name;
  std::string home;
  std::string table = "accounts";
  bool bytes = false;
};

struct StoryOptions {
  std::vector<std::string> nodes{"A", "B", "C"};
  std::vector<StoryKey> keys{{"k", "", "accounts"}};
  std::vector<std::string> members;  ///< Empty: all nodes.
  protocol::ProtocolOptions protocol;
  Duration latency = sim::milliseconds(10);  ///< One way, of every link.
  Duration applyDelay = sim::milliseconds(1);
  Duration commitDelay = sim::milliseconds(2);
  Duration persistDelay = sim::milliseconds(1);
  Duration reconnect = sim::milliseconds(20);
  std::vector<NodeOverride> overrides;  ///< Ids are ranks of the names in byte order.
  std::vector<ClockSettings> clocks;    ///< By id.
  checkers::CheckerOptions checkers;
  /// True time before the script starts, in which memberships go live.
  Duration warmUp = sim::seconds(1);
  /// True time after the script ended, in which everything settles before the last word of the checkers.
  Duration settle = sim::seconds(30);
  /// The script must end within this much true time.
  Duration limit = sim::minutes(30);
  sim::TieBreak tieBreak = sim::TieBreak::fifo;
};

/// The latencies of StoryOptions as options of a cluster.
RunOptions runOptionsOf(const StoryOptions& options, std::uint64_t seed);

class Story;

/// A node as the script sees it; refers to the story.
class StoryNode {
 public:
  StoryNode(Story& story, NodeId id) : story_(&story), id_(id) {}

  NodeId id() const { return id_; }

  Pending<LockOutcome> lock(std::string_view key, LockCall call = {}) const;
  Pending<LockOutcome> reenter(const LockOutcome& handle, Duration lease, bool hold = false) const;
  Pending<ReadOutcome> read(const LockOutcome& handle) const;
  /// A read outside any lock.
  Pending<ReadOutcome> peek(std::string_view key) const;
  void unlock(const LockOutcome& handle) const;

  /// A new transaction of this node.
  obs::TxnId begin() const;
  Pending<TxnOutcome> stage(obs::TxnId txn, const LockOutcome& handle, const WriteSpec& write) const;
  /// Staged without a lock (LH-5).
  Pending<TxnOutcome> stageUnlocked(obs::TxnId txn, std::string_view key, const WriteSpec& write) const;
  Pending<TxnOutcome> submit(obs::TxnId txn) const;
  void abandon(obs::TxnId txn) const;
  /// Stages, submits and waits for settlement; a refused stage ends it.
  Task<TxnOutcome> write(LockOutcome handle, WriteSpec write) const;
  Task<TxnOutcome> writeUnlocked(std::string key, WriteSpec write) const;
  /// The whole section: lock, write, unlock. `lock` says how the lock went.
  struct Section {
    LockOutcome lock;
    TxnOutcome write;
  };
  Task<Section> update(std::string key, WriteSpec write, LockCall call = {}) const;

  /// Waits until this node's monotonic clock has advanced by `local`.
  Task<> sleep(Duration local) const;
  /// The readings of this node's clocks now.
  MonotonicInstant monotonicNow() const;
  obs::Timestamp wallNow() const;

  void crash() const;
  void restart(bool reboot = false) const;
  void pause() const;
  void resume() const;

 private:
  Story* story_;
  NodeId id_;
};

class Story : private ReplyListener, private ObservationSink {
 public:
  Story(ScenarioContext& context, StoryOptions options);
  ~Story() override;
  Story(const Story&) = delete;
  Story& operator=(const Story&) = delete;

  // ---- Names ----

  StoryNode node(std::string_view name) { return {*this, id(name)}; }
  /// Throws std::invalid_argument for a name that is not in the options, as key() does.
  NodeId id(std::string_view name) const;
  KeyId key(std::string_view name) const;
  std::string_view nameOf(NodeId node) const;

  Cluster& cluster() { return cluster_; }
  const protocol::Directory& directory() const { return *directory_; }
  const StoryOptions& options() const { return options_; }
  sim::VirtualContext& context() { return virtual_; }
  TrueInstant now() const { return cluster_.now(); }

  // ---- Running ----

  /// Runs the script, lets everything settle, ends the run and gives the result. Call it once.
  ScenarioResult run(std::function<Task<>()> script);
  /// Starts another coroutine beside the calling one; its failure is the story's. The story does not end
  /// before it.
  void also(std::function<Task<>()> script);
  /// Waits in true time.
  Task<> sleep(Duration trueTime);
  /// Waits until the condition holds, looking after every event; false if it does not within `limit`.
  Task<bool> until(std::function<bool()> condition, Duration limit = sim::seconds(60));
  /// Waits until `count` observations of this kind satisfy the filter, counted from the start of the run.
  template <class T>
  Task<bool> untilSeen(std::function<bool(const T&, NodeId)> filter = {}, std::size_t count = 1,
                       Duration limit = sim::seconds(60)) {
    return until([this, filter = std::move(filter), count] { return this->count<T>(filter) >= count; },
                 limit);
  }

  // ---- Expectations ----

  /// Records an expectation; `what` says what should be so.
  bool expect(bool met, std::string_view what);
  /// The same on two values, which are written into the failure.
  template <class T, class U>
  bool expectEqual(const T& observed, const U& expected, std::string_view what) {
    return record(observed == expected, what, textOf(observed), textOf(expected));
  }
  template <class T, class U>
  bool expectAtLeast(const T& observed, const U& least, std::string_view what) {
    return record(!(observed < least), what, textOf(observed), "at least " + textOf(least));
  }
  template <class T, class U>
  bool expectAtMost(const T& observed, const U& most, std::string_view what) {
    return record(!(most < observed), what, textOf(observed), "at most " + textOf(most));
  }
  /// A line of the report.
  void note(std::string line) { result_.notes.push_back(std::move(line)); }

  // ---- Observations ----

  const std::vector<obs::Stamped>& observations() const { return observations_; }
  /// Calls visit(stamped, what) for each observation of the kind, in order.
  template <class T, class Visit>
  void forEach(Visit&& visit) const {
    for (const obs::Stamped& stamped : observations_) {
      if (const T* const what = std::get_if<T>(&stamped.what)) visit(stamped, *what);
    }
  }
  /// How many observations of the kind satisfy the filter (all, when it is empty).
  template <class T>
  std::size_t count(const std::function<bool(const T&, NodeId)>& filter = {}) const {
    std::size_t found = 0;
    forEach<T>([&](const obs::Stamped& stamped, const T& what) {
      found += !filter || filter(what, stamped.node) ? 1 : 0;
    });
    return found;
  }
  /// The first or last one that satisfies the filter, with its stamp.
  template <class T>
  std::optional<std::pair<obs::Stamp, T>> first(
      const std::function<bool(const T&, NodeId)>& filter = {}) const {
    std::optional<std::pair<obs::Stamp, T>> found;
    forEach<T>([&](const obs::Stamped& stamped, const T& what) {
      if (!found && (!filter || filter(what, stamped.node)))
        found.emplace(obs::Stamp{stamped.at, stamped.node}, what);
    });
    return found;
  }
  template <class T>
  std::optional<std::pair<obs::Stamp, T>> last(
      const std::function<bool(const T&, NodeId)>& filter = {}) const {
    std::optional<std::pair<obs::Stamp, T>> found;
    forEach<T>([&](const obs::Stamped& stamped, const T& what) {
      if (!filter || filter(what, stamped.node)) found.emplace(obs::Stamp{stamped.at, stamped.node}, what);
    });
    return found;
  }
  /// Messages of the kind sent so far.
  std::uint64_t messages(MessageKind kind) const {
    return cluster_.statistics().byKind[static_cast<std::size_t>(kind)];
  }
  /// Messages sent so far that belong to locking: requests, grants, denials, recalls, hand-backs, barriers.
  std::uint64_t lockMessages() const;

 private:
  friend class StoryNode;

  template <class T>
  static std::string textOf(const T& value) {
    if constexpr (obs::DescribedEnum<T>) {
      return std::string(obs::nameOf(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      return value ? "true" : "false";
    } else if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>) {
      return std::to_string(value);
    } else if constexpr (std::is_convertible_v<T, std::string_view>) {
      return std::string(std::string_view(value));
    } else if constexpr (requires { value.ns; }) {
      if (value.ns == INT64_MAX) return "never";
      return std::to_string(value.ns) + " ns";
    } else if constexpr (std::is_same_v<T, obs::Token>) {
      return fmt::format("({}, {}, {})", value.membership, value.incarnation, value.counter);
    } else if constexpr (requires { value.value; }) {
      return std::to_string(value.value);
    } else if constexpr (requires { value.begin(), value.end(); }) {
      std::string text = "[";
      for (const auto& element : value) text += (text.size() > 1 ? ", " : "") + textOf(element);
      return text + "]";
    } else {
      static_assert(std::is_void_v<T>, "no text for this type");
    }
  }

  void replied(NodeId node, const protocol::Reply& reply) override;
  void callsLost(NodeId node) override;
  void observe(const obs::Stamped& stamped, std::uint64_t chain) override;

  bool record(bool met, std::string_view what, std::string observed, std::string expected);
  Task<> runScript(std::function<Task<>()>& body);
  void drive(TrueInstant until, const std::function<bool()>& done);
  void wakeConditions();

  /// A call that the story made and that is not answered.
  template <class T>
  struct Asked {
    std::uint32_t id = 0;
    NodeId node;
    bool submission = false;
    std::shared_ptr<sim::Completion<T>> completion;
  };
  struct Condition {
    std::function<bool()> holds;
    std::shared_ptr<sim::Completion<bool>> completion;
  };
  template <class T>
  Pending<T> ask(std::vector<Asked<T>>& asked, std::uint32_t call, NodeId node, const protocol::Input& input,
                 bool submission = false);

  static constexpr std::size_t kProgressEvery = 65'536;

  ScenarioContext& scenario_;
  StoryOptions options_;
  std::shared_ptr<const protocol::Directory> directory_;
  std::vector<std::string> keyNames_;  // as the story calls them, by id
  ScenarioResult result_;
  std::vector<obs::Stamped> observations_;
  std::vector<Asked<LockOutcome>> locks_;
  std::vector<Asked<ReadOutcome>> reads_;
  std::vector<Asked<TxnOutcome>> txns_;
  std::vector<Condition> conditions_;
  std::vector<std::unique_ptr<std::function<Task<>()>>> scripts_;  // their captures outlive the coroutines
  std::size_t scriptsRunning_ = 0;
  Cluster cluster_;
  sim::VirtualContext virtual_;
};

}  // namespace holdfast::scenarios
