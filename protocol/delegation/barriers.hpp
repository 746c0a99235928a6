// Recovery barriers at the acquirer (FR-8): every reachable member appends an entry; once exactly those
// entries are applied and visible here, so is everything their authors had committed before.
//
// One barrier is under way at a time. A recovery that comes up meanwhile may not join it, for its predecessor
// may have committed after that barrier's entries were appended; all such recoveries share the next one. So
// any number of concurrent recoveries cost a bounded number of barriers.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/env.hpp"

namespace holdfast::protocol {

/// A delegation's need of a barrier. `grant` tells the delegations of one key apart: a barrier that was
/// started for an earlier one proves nothing about what has been committed since.
struct Recovery {
  KeyId key;
  std::uint32_t grant = 0;
  friend bool operator==(const Recovery&, const Recovery&) = default;
};
BOOST_DESCRIBE_STRUCT(Recovery, (), (key, grant))

/// How a barrier ended, and for which recoveries.
struct BarrierResult {
  std::uint64_t nonce = 0;
  bool satisfied = false;
  std::vector<Recovery> recoveries;
  DependencySet reached;  // the new dependency set of every key (FR-8)
};

class Barriers {
 public:
  explicit Barriers(std::uint32_t incarnation) : incarnation_(incarnation) {}

  /// The recovery needs a barrier that starts now or later. Joining twice is joining once.
  void join(Recovery recovery, const Env& env);

  void onReply(NodeId from, const BarrierReply& reply, const Env& env);
  void onTimeout(const Env& env);

  /// Whether the barrier under way has come to its end; then `result` is filled in and the next one starts.
  bool conclude(const Env& env, BarrierResult& result);

  std::size_t size() const { return (underWay_ ? 1U : 0U) + (next_.empty() ? 0U : 1U); }
  /// The recoveries that wait for the barrier under way, and those that wait for the next one.
  const std::vector<Recovery>& joined() const { return joined_; }
  const std::vector<Recovery>& next() const { return next_; }
  /// All but the recoveries, of which their owner alone knows what still counts.
  void addTo(StateHash& hash) const;

 private:
  struct Asked {
    NodeId member;
    bool answered = false;
  };

  void start(const Env& env);
  bool complete() const;

  bool underWay_ = false;
  bool failed_ = false;
  bool measured_ = false;  // all members answered or were left out; waiting for their entries
  std::uint64_t nonce_ = 0;
  MonotonicInstant givesUpAt_;
  std::vector<Asked> asked_;
  std::vector<Recovery> joined_;  // the barrier under way
  std::vector<Recovery> next_;
  DependencySet reached_;
  std::uint32_t incarnation_ = 0;
  std::uint32_t sequence_ = 0;
};

}  // namespace holdfast::protocol
