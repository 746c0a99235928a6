#include "checkers/linearizability/dependencies.hpp"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <set>
#include <utility>

namespace holdfast::linearizability {
namespace {

using Version = std::pair<std::int64_t, std::int64_t>;  // key and value

/// Who wrote a version, and whether it is the last that this transaction wrote to the key.
struct Writer {
  std::uint32_t transaction = 0;
  bool last = true;
};

struct Reading {
  std::uint32_t transaction = 0;
  const Access* access = nullptr;
};

class Inference {
 public:
  explicit Inference(const std::vector<Transaction>& history) : history_(history) {
    noteWriters();
    noteReads();
  }

  Dependencies run(Workload workload) {
    judgeReads(workload);
    if (workload == Workload::listAppend) {
      orderLists();
    } else {
      orderRegisters();
    }
    orderInTime();
    return std::move(result_);
  }

 private:
  bool counts(std::uint32_t transaction) const {
    return history_[transaction].ending == Ending::committed ||
           (history_[transaction].ending == Ending::unknown && seen_[transaction]);
  }

  void noteWriters() {
    seen_.assign(history_.size(), false);
    for (std::uint32_t i = 0; i < history_.size(); ++i) {
      boost::unordered_flat_map<std::int64_t, Version> latest;
      for (const Access& access : history_[i].accesses) {
        if (access.kind == Access::Kind::read) continue;
        const Version version{access.key, access.value};
        if (const auto before = latest.find(access.key); before != latest.end()) {
          writers_[before->second].last = false;
        }
        writers_.insert_or_assign(version, Writer{i, true});
        latest.insert_or_assign(access.key, version);
        written_[access.key].push_back({i, access.value});
      }
    }
  }

  /// Reads of what others wrote; what a transaction reads behind its own writes is judged by itself.
  void noteReads() {
    for (std::uint32_t i = 0; i < history_.size(); ++i) {
      if (history_[i].ending != Ending::committed) continue;
      for (const Access& access : history_[i].accesses) {
        if (access.kind != Access::Kind::read) continue;
        reads_[access.key].push_back({i, &access});
        for (const std::int64_t value : access.list) markSeen({access.key, value});
        if (access.list.empty()) markSeen({access.key, access.value});
      }
    }
  }
  void markSeen(const Version& version) {
    const auto writer = writers_.find(version);
    if (writer != writers_.end()) seen_[writer->second.transaction] = true;
  }

  void report(Anomaly anomaly, std::int64_t key, std::vector<std::uint32_t> transactions) {
    if (std::ranges::find(result_.direct, anomaly, &AnomalyFound::anomaly) != result_.direct.end()) return;
    AnomalyFound found;
    found.anomaly = anomaly;
    found.key = key;
    found.transactions = std::move(transactions);
    result_.direct.push_back(std::move(found));
  }

  void link(std::uint32_t from, std::uint32_t to, Dependency dependency, std::int64_t key) {
    if (from != to && counts(from) && counts(to)) result_.links.push_back({from, to, dependency, key});
  }

  // ---- What shows in a read by itself

  void judgeReads(Workload workload) {
    for (const auto& [key, readings] : reads_) {
      for (const Reading& reading : readings) {
        const std::vector<std::int64_t>& list = reading.access->list;
        if (workload == Workload::registers) {
          judgeShown(reading, {key, reading.access->value}, true);
          continue;
        }
        for (std::size_t i = 0; i < list.size(); ++i) {
          judgeShown(reading, {key, list[i]}, i + 1 == list.size());
        }
      }
    }
    for (std::uint32_t i = 0; i < history_.size(); ++i) {
      if (history_[i].ending == Ending::committed) judgeInside(i, workload);
    }
  }

  /// `end`: it is the state of the key, and no state before.
  void judgeShown(const Reading& reading, const Version& version, bool end) {
    const auto at = writers_.find(version);
    if (at == writers_.end() || at->second.transaction == reading.transaction) return;
    const std::uint32_t writer = at->second.transaction;
    if (history_[writer].ending == Ending::aborted) {
      report(Anomaly::abortedRead, version.first, {reading.transaction, writer});
    }
    if (end && !at->second.last) {
      report(Anomaly::intermediateRead, version.first, {reading.transaction, writer});
    }
  }

  /// A transaction sees its own writes, and between them nothing that it has not seen before.
  void judgeInside(std::uint32_t index, Workload workload) {
    boost::unordered_flat_map<std::int64_t, std::vector<std::int64_t>> known;  // by key: what must be shown
    boost::unordered_flat_map<std::int64_t, std::vector<std::int64_t>> own;    // appended, nothing read yet
    for (const Access& access : history_[index].accesses) {
      const auto at = known.find(access.key);
      if (access.kind == Access::Kind::read) {
        const std::vector<std::int64_t> shown =
            workload == Workload::listAppend ? access.list : std::vector{access.value};
        const auto mine = own.find(access.key);
        const bool wrong = at != known.end()   ? at->second != shown
                           : mine != own.end() ? !endsWith(shown, mine->second)
                                               : false;
        if (wrong) report(Anomaly::internal, access.key, {index});
        known.insert_or_assign(access.key, shown);
      } else if (access.kind == Access::Kind::write) {
        known.insert_or_assign(access.key, std::vector{access.value});
      } else if (at != known.end()) {
        at->second.push_back(access.value);
      } else {
        own[access.key].push_back(access.value);
      }
    }
  }
  static bool endsWith(const std::vector<std::int64_t>& list, const std::vector<std::int64_t>& end) {
    return list.size() >= end.size() && std::equal(end.rbegin(), end.rend(), list.rbegin());
  }

  // ---- Lists

  /// The longest list that was read of a key; each other must be a beginning of it.
  const std::vector<std::int64_t>& longestOf(std::int64_t key, const std::vector<Reading>& readings) {
    const Reading* longest = &readings.front();
    for (const Reading& reading : readings) {
      if (reading.access->list.size() > longest->access->list.size()) longest = &reading;
    }
    const std::vector<std::int64_t>& order = longest->access->list;
    for (const Reading& reading : readings) {
      const std::vector<std::int64_t>& list = reading.access->list;
      if (!std::equal(list.begin(), list.end(), order.begin())) {
        report(Anomaly::incompatibleOrder, key, {reading.transaction, longest->transaction});
      }
    }
    return order;
  }

  void orderLists() {
    for (const auto& [key, readings] : reads_) {
      const std::vector<std::int64_t>& order = longestOf(key, readings);
      const std::vector<std::uint32_t> behind = unseenWriters(key, order);
      for (std::size_t i = 0; i < order.size(); ++i) {
        const auto writer = writers_.find({key, order[i]});
        if (writer == writers_.end()) continue;
        linkToNext(writer->second.transaction, Dependency::ww, key, order, i + 1, behind);
      }
      for (const Reading& reading : readings) {
        const std::vector<std::int64_t>& list = reading.access->list;
        if (!list.empty()) {
          const auto writer = writers_.find({key, list.back()});
          if (writer != writers_.end()) {
            link(writer->second.transaction, reading.transaction, Dependency::wr, key);
          }
        }
        linkToNext(reading.transaction, Dependency::rw, key, order, list.size(), behind);
      }
      judgeUpdates(key, readings);
    }
  }

  /// Committed writers of values that no read shows: theirs come behind every list that was read.
  std::vector<std::uint32_t> unseenWriters(std::int64_t key, const std::vector<std::int64_t>& order) {
    const std::set<std::int64_t> shown(order.begin(), order.end());
    std::vector<std::uint32_t> writers;
    for (const auto& [transaction, value] : written_[key]) {
      if (!shown.contains(value) && history_[transaction].ending == Ending::committed) {
        writers.push_back(transaction);
      }
    }
    return writers;
  }

  /// From whoever wrote or read the version before place `next` of the order to who wrote that place.
  void linkToNext(std::uint32_t from, Dependency dependency, std::int64_t key,
                  const std::vector<std::int64_t>& order, std::size_t next,
                  const std::vector<std::uint32_t>& behind) {
    // A transaction's own appends follow each other; the next one that matters is another's.
    for (; next < order.size(); ++next) {
      const auto writer = writers_.find({key, order[next]});
      if (writer == writers_.end()) return;
      if (writer->second.transaction != from) {
        link(from, writer->second.transaction, dependency, key);
        return;
      }
      // Whoever wrote the next version himself did not miss it.
      if (dependency == Dependency::rw) return;
    }
    for (const std::uint32_t writer : behind) link(from, writer, dependency, key);
  }

  /// Two that read one version of a list and appended to it.
  void judgeUpdates(std::int64_t key, const std::vector<Reading>& readings) {
    std::map<std::size_t, std::uint32_t> updater;  // by length of what was read
    for (const Reading& reading : readings) {
      if (!writesAfter(reading, key)) continue;
      const auto [at, fresh] = updater.try_emplace(reading.access->list.size(), reading.transaction);
      if (!fresh && at->second != reading.transaction) {
        report(Anomaly::lostUpdate, key, {at->second, reading.transaction});
      }
    }
  }
  /// Whether the read is the transaction's first access of the key, and a write of it follows.
  bool writesAfter(const Reading& reading, std::int64_t key) const {
    bool read = false;
    for (const Access& access : history_[reading.transaction].accesses) {
      if (access.key != key) continue;
      if (access.kind != Access::Kind::read) return read;
      if (!read && &access != reading.access) return false;
      read = true;
    }
    return false;
  }

  // ---- Registers

  void orderRegisters() {
    std::map<Version, std::set<std::uint32_t>> next;  // who wrote a version behind this one
    for (const auto& [key, readings] : reads_) {
      std::map<std::int64_t, std::uint32_t> updater;
      for (const Reading& reading : readings) {
        if (!writesAfter(reading, key)) continue;
        next[{key, reading.access->value}].insert(reading.transaction);
        const auto [at, fresh] = updater.try_emplace(reading.access->value, reading.transaction);
        if (!fresh && at->second != reading.transaction) {
          report(Anomaly::lostUpdate, key, {at->second, reading.transaction});
        }
      }
      // What was never written is behind nothing, and before everything.
      for (const auto& [transaction, value] : written_[key]) next[{key, kUnwritten}].insert(transaction);
    }
    for (const auto& [version, behind] : next) {
      const auto writer = writers_.find(version);
      if (writer == writers_.end()) continue;
      for (const std::uint32_t to : behind)
        link(writer->second.transaction, to, Dependency::ww, version.first);
    }
    for (const auto& [key, readings] : reads_) {
      for (const Reading& reading : readings) {
        const Version version{key, reading.access->value};
        const auto writer = writers_.find(version);
        if (writer != writers_.end()) {
          link(writer->second.transaction, reading.transaction, Dependency::wr, key);
        }
        const auto behind = next.find(version);
        if (behind == next.end()) continue;
        for (const std::uint32_t to : behind->second) link(reading.transaction, to, Dependency::rw, key);
      }
    }
  }

  // ---- Real time

  /// Only links that do not follow from others: from those that returned last before an invocation.
  void orderInTime() {
    struct Event {
      std::uint32_t at = 0;
      bool returned = false;
      std::uint32_t transaction = 0;
    };
    std::vector<Event> events;
    for (std::uint32_t i = 0; i < history_.size(); ++i) {
      if (!counts(i)) continue;
      events.push_back({history_[i].invoked, false, i});
      if (history_[i].returned != kNever) events.push_back({history_[i].returned, true, i});
    }
    std::ranges::sort(events, {}, &Event::at);
    std::vector<std::uint32_t> frontier;
    for (const Event& event : events) {
      if (!event.returned) {
        for (const std::uint32_t before : frontier) link(before, event.transaction, Dependency::realTime, 0);
        continue;
      }
      const std::uint32_t invoked = history_[event.transaction].invoked;
      std::erase_if(frontier, [&](std::uint32_t one) { return history_[one].returned < invoked; });
      frontier.push_back(event.transaction);
    }
  }

  static constexpr std::int64_t kUnwritten = -1;

  const std::vector<Transaction>& history_;
  boost::unordered_flat_map<Version, Writer> writers_;
  std::map<std::int64_t, std::vector<Reading>> reads_;
  std::map<std::int64_t, std::vector<std::pair<std::uint32_t, std::int64_t>>> written_;
  std::vector<bool> seen_;
  Dependencies result_;
};

}  // namespace

Dependencies dependenciesOf(const std::vector<Transaction>& history, Workload workload) {
  return Inference(history).run(workload);
}

}  // namespace holdfast::linearizability
