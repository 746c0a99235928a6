// Entries on their way to the disk: what was asked of the driver and is not yet durable (LH-3, DR-3).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/context.hpp"

namespace holdfast::protocol {

struct PendingCommit {
  std::uint32_t commit = 0;
  std::uint32_t attempt = 1;
  LogEntry entry;
};

/// Few at a time; kept in the order in which they were started.
class Commits {
 public:
  /// Asks the driver to make `entry` durable. `attempt` counts the native attempts of one logical
  /// transaction.
  void start(LogEntry entry, std::uint32_t attempt, const Context& context) {
    const std::uint32_t commit = ++last_;
    context.out.commits.push_back({commit, attempt, entry});
    pending_.push_back({commit, attempt, std::move(entry)});
  }

  /// Takes out the commit that the driver has answered; nothing when it is unknown (BD-3).
  std::optional<PendingCommit> take(std::uint32_t commit) {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i].commit != commit) continue;
      PendingCommit found = std::move(pending_[i]);
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
      return found;
    }
    return std::nullopt;
  }

  std::size_t size() const { return pending_.size(); }

  /// Counts anew where no answer is to come, so that states which differ in the numbers to come become equal.
  void renumber() {
    if (pending_.empty()) last_ = 0;
  }

  template <class Hash>
  void addTo(Hash& hash) const {
    hash.add(static_cast<std::uint64_t>(pending_.size()));
    // The driver's answers name commits by their numbers.
    if (!pending_.empty()) hash.add(static_cast<std::uint64_t>(last_));
    for (const PendingCommit& pending : pending_) {
      hash.add(static_cast<std::uint64_t>(pending.commit));
      hash.add(static_cast<std::uint64_t>(pending.attempt));
      hash.add(pending.entry);
    }
  }

 private:
  std::vector<PendingCommit> pending_;
  std::uint32_t last_ = 0;
};

}  // namespace holdfast::protocol
