#include "scenarios/story.hpp"

#include <algorithm>
#include <stdexcept>

#include "protocol/routing.hpp"

namespace holdfast::scenarios {
namespace {

// More events than this at one instant, and the story runs in a circle.
constexpr std::uint64_t kMostAtOneInstant = 5'000'000;

// How many record names are tried until one has the home that a story wants.
constexpr int kMostCandidates = 100'000;

NodeId findNode(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::invalid_argument(fmt::format("the story has no node '{}'", name));
  return NodeId{static_cast<std::uint16_t>(found - names.begin())};
}

/// RT-1 over names, for a key that is in no directory yet.
std::string_view homeOfKey(const std::vector<std::string>& members, const std::string& canonicalKey,
                           std::uint32_t ringVersion) {
  std::string_view home;
  std::uint64_t best = 0;
  for (const std::string& member : members) {
    const std::uint64_t hash = protocol::ringHash(member, canonicalKey, ringVersion);
    if (home.empty() || hash > best || (hash == best && member > home)) {
      home = member;
      best = hash;
    }
  }
  return home;
}

protocol::KeyInfo chooseKey(const StoryKey& wanted, std::uint16_t table,
                            const std::vector<std::string>& members, std::uint32_t ringVersion) {
  for (int candidate = 0; candidate < kMostCandidates; ++candidate) {
    const std::string record = candidate == 0 ? wanted.name : fmt::format("{}.{}", wanted.name, candidate);
    protocol::KeyInfo key = makeKey(wanted.table, record, table, wanted.bytes);
    if (wanted.home.empty() || homeOfKey(members, key.canonicalBytes, ringVersion) == wanted.home) return key;
  }
  throw std::invalid_argument(fmt::format("no record of '{}' is homed at '{}'", wanted.table, wanted.home));
}

std::shared_ptr<const protocol::Directory> directoryOf(const StoryOptions& options) {
  const std::vector<std::string> members = options.members.empty() ? options.nodes : options.members;
  std::vector<std::string> tables;
  std::vector<protocol::KeyInfo> keys;
  for (const StoryKey& key : options.keys) {
    if (std::find(tables.begin(), tables.end(), key.table) == tables.end()) tables.push_back(key.table);
    const auto table = std::find(tables.begin(), tables.end(), key.table) - tables.begin();
    keys.push_back(chooseKey(key, static_cast<std::uint16_t>(table), members, options.protocol.ringVersion));
  }
  return std::make_shared<const protocol::Directory>(options.nodes, std::move(keys));
}

ClusterSetup setupOf(const StoryOptions& options, const ScenarioContext& context,
                     std::shared_ptr<const protocol::Directory> directory) {
  ClusterSetup setup;
  for (const std::string& name : options.members) setup.members.push_back(findNode(directory->names(), name));
  setup.directory = std::move(directory);
  setup.options = runOptionsOf(options, context.seed);
  setup.rules = context.rules;
  setup.overrides = options.overrides;
  setup.clocks = options.clocks;
  setup.checkers = options.checkers;
  setup.checkers.epochLease = options.protocol.epochLease;
  setup.checkers.barrierTimeout = options.protocol.barrierTimeout;
  setup.checkers.lineageSets = options.protocol.lineageSets;
  // Members that change are known to the checker that watches them change; more than 64 have no bits.
  const bool constant =
      options.protocol.membership == protocol::MembershipKind::fixed && options.nodes.size() <= 64;
  for (const std::string& name : options.members.empty() ? options.nodes : options.members) {
    if (!constant) break;
    setup.checkers.members |= std::uint64_t{1} << findNode(setup.directory->names(), name).value;
  }
  setup.tieBreak = options.tieBreak;
  return setup;
}

LockOutcome outcomeOf(const protocol::LockReply& reply, TrueInstant at) {
  LockOutcome outcome;
  outcome.call = reply.call;
  outcome.key = reply.key;
  outcome.error = reply.error;
  outcome.cause = reply.cause;
  outcome.path = reply.path;
  outcome.token = reply.token;
  outcome.lease = reply.lease;
  outcome.at = at;
  return outcome;
}

TxnOutcome outcomeOf(const protocol::TxnReply& reply, TrueInstant at) {
  TxnOutcome outcome;
  outcome.txn = reply.txn;
  outcome.staged = reply.staged && reply.error == obs::ErrorClass::none;
  outcome.committed = reply.committed;
  outcome.error = reply.error;
  outcome.cause = reply.cause;
  outcome.at = at;
  return outcome;
}

template <class T>
T lostOutcome() {
  T outcome;
  outcome.lost = true;
  return outcome;
}

}  // namespace

RunOptions runOptionsOf(const StoryOptions& options, std::uint64_t seed) {
  RunOptions run;
  run.seed = seed;
  run.nodes = static_cast<std::uint16_t>(options.nodes.size());
  run.keys = static_cast<std::uint32_t>(options.keys.size());
  run.protocol = options.protocol;
  run.delays.link = LatencyDistribution::constant(options.latency);
  run.delays.apply = LatencyDistribution::constant(options.applyDelay);
  run.delays.commit = LatencyDistribution::constant(options.commitDelay);
  run.delays.persist = LatencyDistribution::constant(options.persistDelay);
  run.delays.reconnect = options.reconnect;
  return run;
}

// ---- A node of the story ----------------------------------------------------------------------------------

Pending<LockOutcome> StoryNode::lock(std::string_view key, LockCall call) const {
  protocol::CallLock input;
  input.call = story_->cluster_.newCall();
  input.key = story_->key(key);
  input.wait = call.wait;
  input.lease = call.lease;
  input.hold = call.hold;
  input.worker = call.worker;
  return story_->ask(story_->locks_, input.call.value, id_, input);
}

Pending<LockOutcome> StoryNode::reenter(const LockOutcome& handle, Duration lease, bool hold) const {
  return story_->ask(story_->locks_, handle.call.value, id_, protocol::CallReenter{handle.call, lease, hold});
}

Pending<ReadOutcome> StoryNode::read(const LockOutcome& handle) const {
  return story_->ask(story_->reads_, handle.call.value, id_, protocol::CallRead{handle.call, handle.key});
}

Pending<ReadOutcome> StoryNode::peek(std::string_view key) const {
  return story_->ask(story_->reads_, 0, id_, protocol::CallRead{{}, story_->key(key)});
}

void StoryNode::unlock(const LockOutcome& handle) const {
  story_->cluster_.call(id_, protocol::CallUnlock{handle.call});
}

obs::TxnId StoryNode::begin() const { return story_->cluster_.newTxn(); }

Pending<TxnOutcome> StoryNode::stage(obs::TxnId txn, const LockOutcome& handle,
                                     const WriteSpec& write) const {
  const protocol::CallStage input{txn,          handle.call,  handle.key,        write.op,
                                  write.fields, write.values, write.callerStamp, write.stamp};
  return story_->ask(story_->txns_, txn.value, id_, input);
}

Pending<TxnOutcome> StoryNode::stageUnlocked(obs::TxnId txn, std::string_view key,
                                             const WriteSpec& write) const {
  const protocol::CallStage input{txn,          {},           story_->key(key),  write.op,
                                  write.fields, write.values, write.callerStamp, write.stamp};
  return story_->ask(story_->txns_, txn.value, id_, input);
}

Pending<TxnOutcome> StoryNode::submit(obs::TxnId txn) const {
  return story_->ask(story_->txns_, txn.value, id_, protocol::CallSubmit{txn}, true);
}

void StoryNode::abandon(obs::TxnId txn) const { story_->cluster_.call(id_, protocol::CallAbandon{txn}); }

Task<TxnOutcome> StoryNode::write(LockOutcome handle, WriteSpec write) const {
  const StoryNode self = *this;
  const obs::TxnId txn = self.begin();
  const TxnOutcome staged = co_await self.stage(txn, handle, write);
  if (!staged.staged) co_return staged;
  co_return co_await self.submit(txn);
}

Task<TxnOutcome> StoryNode::writeUnlocked(std::string key, WriteSpec write) const {
  const StoryNode self = *this;
  const obs::TxnId txn = self.begin();
  const TxnOutcome staged = co_await self.stageUnlocked(txn, key, write);
  if (!staged.staged) co_return staged;
  co_return co_await self.submit(txn);
}

Task<StoryNode::Section> StoryNode::update(std::string key, WriteSpec write, LockCall call) const {
  const StoryNode self = *this;
  Section section;
  section.lock = co_await self.lock(key, call);
  if (!section.lock.admitted()) co_return section;
  section.write = co_await self.write(section.lock, write);
  self.unlock(section.lock);
  co_return section;
}

Task<> StoryNode::sleep(Duration local) const {
  Story& story = *story_;
  const sim::MonotonicClock& clock = story.cluster_.monotonic(id_);
  sim::VirtualTimer timer(story.virtual_, clock, clock.at(story.now()) + local);
  co_await timer.wait();
}

MonotonicInstant StoryNode::monotonicNow() const { return story_->cluster_.monotonic(id_).at(story_->now()); }

obs::Timestamp StoryNode::wallNow() const { return {story_->cluster_.wall(id_).at(story_->now()).ns}; }

void StoryNode::crash() const { story_->cluster_.crash(id_); }
void StoryNode::restart(bool reboot) const { story_->cluster_.restart(id_, reboot); }
void StoryNode::pause() const { story_->cluster_.pause(id_); }
void StoryNode::resume() const { story_->cluster_.resume(id_); }

// ---- The story --------------------------------------------------------------------------------------------

Story::Story(ScenarioContext& context, StoryOptions options)
    : scenario_(context),
      options_(std::move(options)),
      directory_(directoryOf(options_)),
      cluster_(setupOf(options_, context, directory_)),
      virtual_(context.seed, options_.tieBreak) {
  for (const StoryKey& key : options_.keys) keyNames_.push_back(key.name);
  cluster_.setReplyListener(this);
  cluster_.setSink(this);
}

Story::~Story() {
  // What is awaited must go before the context that awaits it.
  cluster_.setReplyListener(nullptr);
  cluster_.setSink(nullptr);
  conditions_.clear();
  locks_.clear();
  reads_.clear();
  txns_.clear();
}

NodeId Story::id(std::string_view name) const { return findNode(directory_->names(), name); }

KeyId Story::key(std::string_view name) const {
  const auto found = std::find(keyNames_.begin(), keyNames_.end(), name);
  if (found == keyNames_.end()) throw std::invalid_argument(fmt::format("the story has no key '{}'", name));
  return KeyId{static_cast<std::uint32_t>(found - keyNames_.begin())};
}

std::string_view Story::nameOf(NodeId node) const { return directory_->name(node); }

// ---- Running ----------------------------------------------------------------------------------------------

ScenarioResult Story::run(std::function<Task<>()> script) {
  cluster_.start();
  drive(now() + options_.warmUp, [] { return false; });
  const TrueInstant latest = now() + options_.limit;
  also(std::move(script));
  drive(latest, [this] { return scriptsRunning_ == 0; });
  if (scriptsRunning_ != 0) {
    result_.unmet.push_back(
        fmt::format("the story ends within {} s of true time; {} of its scripts still wait at {:.6f} s",
                    options_.limit.ns / 1'000'000'000, scriptsRunning_, static_cast<double>(now().ns) / 1e9));
  }
  cluster_.healEverything();
  drive(now() + options_.settle, [] { return false; });
  cluster_.finish();
  result_.report = reportOf(cluster_, scenario_.seed);
  return std::move(result_);
}

void Story::also(std::function<Task<>()> script) {
  scripts_.push_back(std::make_unique<std::function<Task<>()>>(std::move(script)));
  ++scriptsRunning_;
  sim::spawn(virtual_, [this, body = scripts_.back().get()] { return runScript(*body); });
}

Task<> Story::runScript(std::function<Task<>()>& body) {
  try {
    co_await body();
  } catch (const std::exception& failure) {
    result_.unmet.push_back(fmt::format("the story ends well; it threw: {}", failure.what()));
  }
  --scriptsRunning_;
}

void Story::drive(TrueInstant until, const std::function<bool()>& done) {
  TrueInstant instant = now();
  std::uint64_t atInstant = 0;
  for (;;) {
    virtual_.runReady();
    wakeConditions();
    virtual_.runReady();
    if (done()) return;
    const TrueInstant script = virtual_.nextTime();
    const TrueInstant event = cluster_.nextTime();
    if (std::min(script, event) > until) break;
    // The context's time moves first: what an event completes must go on at the event's own instant.
    if (script <= event) {
      cluster_.advanceTo(script);
      virtual_.advanceTo(script);
    } else {
      virtual_.advanceTo(event);
      cluster_.step();
    }
    atInstant = now() == instant ? atInstant + 1 : 0;
    instant = now();
    if (atInstant > kMostAtOneInstant) throw std::runtime_error("the story runs in a circle at one instant");
  }
  cluster_.advanceTo(until);
  virtual_.advanceTo(now());
}

void Story::wakeConditions() {
  for (std::size_t i = 0; i < conditions_.size();) {
    if (conditions_[i].completion->completed() || conditions_[i].holds()) {
      conditions_[i].completion->complete(true);
      conditions_.erase(conditions_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

Task<> Story::sleep(Duration trueTime) { co_await virtual_.sleepFor(trueTime); }

Task<bool> Story::until(std::function<bool()> condition, Duration limit) {
  if (condition()) co_return true;
  const auto completion = std::make_shared<sim::Completion<bool>>(virtual_);
  conditions_.push_back({std::move(condition), completion});
  bool held = false;
  try {
    held = co_await completion->waitFor(limit);
  } catch (const boost::system::system_error&) {
    // The limit came first. The condition goes the next time that conditions are looked at.
    completion->complete(false);
  }
  co_return held;
}

// ---- Calls and their answers ------------------------------------------------------------------------------

template <class T>
Pending<T> Story::ask(std::vector<Asked<T>>& asked, std::uint32_t call, NodeId node,
                      const protocol::Input& input, bool submission) {
  auto completion = std::make_shared<sim::Completion<T>>(virtual_);
  asked.push_back({call, node, submission, completion});
  if (!cluster_.call(node, input)) {
    asked.pop_back();
    completion->complete(lostOutcome<T>());
  }
  return Pending<T>(std::move(completion));
}

namespace {

/// Answers the oldest call that `matches`; an answer that nobody waits for is the checkers' business.
template <class Asked, class Outcome, class Matches>
void answer(std::vector<Asked>& asked, const Outcome& outcome, Matches&& matches) {
  const auto found = std::find_if(asked.begin(), asked.end(), matches);
  if (found == asked.end()) return;
  const auto completion = found->completion;
  asked.erase(found);
  completion->complete(outcome);
}

template <class Outcome, class Asked>
void answerLost(std::vector<Asked>& asked, NodeId node) {
  std::erase_if(asked, [&](const Asked& call) {
    if (call.node != node) return false;
    call.completion->complete(lostOutcome<Outcome>());
    return true;
  });
}

}  // namespace

void Story::replied(NodeId node, const protocol::Reply& reply) {
  if (const auto* lock = std::get_if<protocol::LockReply>(&reply)) {
    answer(locks_, outcomeOf(*lock, now()), [&](const auto& call) { return call.id == lock->call.value; });
  } else if (const auto* read = std::get_if<protocol::ReadReply>(&reply)) {
    const ReadOutcome outcome{read->present, read->values, false};
    answer(reads_, outcome,
           [&](const auto& call) { return call.id == read->call.value && call.node == node; });
  } else if (const auto* txn = std::get_if<protocol::TxnReply>(&reply)) {
    answer(txns_, outcomeOf(*txn, now()),
           [&](const auto& call) { return call.id == txn->txn.value && call.submission != txn->staged; });
  }
}

void Story::callsLost(NodeId node) {
  answerLost<LockOutcome>(locks_, node);
  answerLost<ReadOutcome>(reads_, node);
  answerLost<TxnOutcome>(txns_, node);
}

void Story::observe(const obs::Stamped& stamped, std::uint64_t chain) {
  observations_.push_back(stamped);
  // Sleeps on a node's clock follow its rate.
  if (std::holds_alternative<obs::ClockRate>(stamped.what)) {
    virtual_.retimeAll(cluster_.monotonic(stamped.node));
  }
  if (scenario_.sink != nullptr) scenario_.sink->observe(stamped, chain);
  if (scenario_.progress != nullptr && observations_.size() % kProgressEvery == 0) {
    (void)scenario_.progress->reached(stamped.at, cluster_.statistics().events);
  }
}

// ---- Expectations -----------------------------------------------------------------------------------------

bool Story::expect(bool met, std::string_view what) {
  ++result_.expectations;
  if (!met) {
    result_.unmet.push_back(fmt::format("at {:.6f} s: {}", static_cast<double>(now().ns) / 1e9, what));
  }
  return met;
}

bool Story::record(bool met, std::string_view what, std::string observed, std::string expected) {
  ++result_.expectations;
  if (!met) {
    result_.unmet.push_back(fmt::format("at {:.6f} s: {}: observed {}, expected {}",
                                        static_cast<double>(now().ns) / 1e9, what, observed, expected));
  }
  return met;
}

std::uint64_t Story::lockMessages() const {
  std::uint64_t sum = 0;
  for (const MessageKind kind :
       {MessageKind::lockRequest, MessageKind::lockGrant, MessageKind::lockDeny, MessageKind::lockRecall,
        MessageKind::lockHandBack, MessageKind::barrierRequest, MessageKind::barrierReply}) {
    sum += messages(kind);
  }
  return sum;
}

}  // namespace holdfast::scenarios
