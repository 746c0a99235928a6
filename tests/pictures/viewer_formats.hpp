// The published rules of the two formats that other viewers open, as far as a file can break them.
//
// Contract: each function gives the first rule that the text breaks, or "" when it breaks none. The rules are
// those of the Trace Event Format (which Perfetto and Chrome read) and of ShiViz's log format.
#pragma once

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace holdfast::pictures {

class TraceEventRules {
 public:
  static std::string brokenBy(const std::string& text) {
    const nlohmann::json file = nlohmann::json::parse(text, nullptr, false);
    if (file.is_discarded() || !file.is_object()) return "the file is one JSON object";
    if (!file.contains("traceEvents") || !file["traceEvents"].is_array()) return "traceEvents is an array";
    TraceEventRules rules;
    for (const auto& event : file["traceEvents"]) {
      if (std::string broken = rules.take(event); !broken.empty()) return broken + ": " + event.dump();
    }
    return rules.atEnd();
  }

 private:
  using Thread = std::pair<int, int>;
  using Flow = std::tuple<std::string, std::string, std::uint64_t>;   // cat, name, id
  using Async = std::tuple<std::string, std::uint64_t, std::string>;  // cat, id, name

  struct End {
    int count = 0;
    double ts = 0;
    Thread thread;
  };

  std::string take(const nlohmann::json& event) {
    if (!event.contains("ph") || !event["ph"].is_string()) return "an event has a phase";
    if (!event.contains("name") || !event["name"].is_string()) return "an event has a name";
    if (!event.contains("pid") || !event["pid"].is_number_integer()) return "an event has a process";
    const std::string phase = event["ph"];
    const int pid = event["pid"];
    if (phase == "M") return takeMetadata(event, pid);
    if (!event.contains("tid") || !event["tid"].is_number_integer()) return "an event has a thread";
    if (!event.contains("ts") || !event["ts"].is_number()) return "an event has an instant";
    const End end{1, event["ts"], {pid, event["tid"]}};
    used_.insert(end.thread);
    if (phase == "X") {
      if (!event.contains("dur") || event["dur"] < 0) return "a complete event has a duration";
      slices_[end.thread].insert(end.ts);
      return "";
    }
    if (phase == "i") {
      const std::string scope = event.value("s", "t");
      return scope == "g" || scope == "p" || scope == "t" ? "" : "an instant event's scope is g, p or t";
    }
    if (!event.contains("id") || !event.contains("cat")) return "what has two ends has an id and a category";
    if (phase == "b" || phase == "e") {
      note((phase == "b" ? begun_ : ended_)[Async{event["cat"], event["id"], event["name"]}], end);
      return "";
    }
    if (phase == "s" || phase == "f") {
      if (phase == "f" && event.value("bp", "") != "e") return "a flow binds to the slice that it ends in";
      note((phase == "s" ? sources_ : targets_)[Flow{event["cat"], event["name"], event["id"]}], end);
      return "";
    }
    return "the phase is one of those that are used";
  }

  std::string takeMetadata(const nlohmann::json& event, int pid) {
    if (!event.contains("args") || !event["args"].contains("name") || !event["args"]["name"].is_string())
      return "metadata has its name among the arguments";
    if (event["name"] == "process_name") {
      return processes_.insert(pid).second ? "" : "a process is named once";
    }
    if (event["name"] != "thread_name" || !event.contains("tid"))
      return "metadata names a process or a thread";
    return threads_.insert({pid, event["tid"]}).second ? "" : "a thread is named once";
  }

  static void note(End& end, const End& now) {
    const int count = end.count + 1;
    end = now;
    end.count = count;
  }

  std::string atEnd() const {
    for (const Thread& thread : used_) {
      if (!processes_.contains(thread.first)) return fmt::format("process {} has a name", thread.first);
      if (!threads_.contains(thread)) return fmt::format("thread {} has a name", thread.second);
    }
    if (std::string broken = pairs(begun_, ended_, "a span"); !broken.empty()) return broken;
    if (std::string broken = pairs(sources_, targets_, "a flow"); !broken.empty()) return broken;
    for (const auto* ends : {&sources_, &targets_}) {
      for (const auto& [flow, end] : *ends) {
        const auto slices = slices_.find(end.thread);
        if (slices == slices_.end() || !slices->second.contains(end.ts)) {
          return fmt::format("flow {} begins and ends in a slice", std::get<2>(flow));
        }
      }
    }
    return "";
  }

  template <class Ends>
  static std::string pairs(const Ends& from, const Ends& to, std::string_view what) {
    if (from.size() != to.size()) return fmt::format("{} has a beginning and an end", what);
    for (const auto& [key, begin] : from) {
      const auto end = to.find(key);
      if (end == to.end() || begin.count != 1 || end->second.count != 1)
        return fmt::format("{} begins once and ends once", what);
      if (end->second.ts < begin.ts) return fmt::format("{} does not end before it begins", what);
    }
    return "";
  }

  std::set<int> processes_;
  std::set<Thread> threads_;
  std::set<Thread> used_;
  std::map<Thread, std::set<double>> slices_;  // instants at which one begins; all are of no length
  std::map<Async, End> begun_;
  std::map<Async, End> ended_;
  std::map<Flow, End> sources_;
  std::map<Flow, End> targets_;
};

/// A log to be uploaded: the parser's expression, the delimiter of executions (none), and the events.
inline std::string shivizRuleBrokenBy(const std::string& log, const std::string& parser) {
  using Clock = std::map<std::string, int>;
  std::istringstream lines(log);
  std::string line;
  if (!std::getline(lines, line) || line != parser) return "the first line is the parser's expression";
  for (const char* group : {"(?<host>", "(?<clock>", "(?<event>"}) {
    if (line.find(group) == std::string::npos) return "the expression names host, clock and event";
  }
  if (!std::getline(lines, line) || !line.empty())
    return "the second line delimits executions, of which is one";
  std::map<std::string, std::vector<Clock>> clocks;  // by host, of its events in order
  std::vector<Clock> all;
  for (std::string event; std::getline(lines, line);) {
    const std::size_t gap = line.find(' ');
    const std::string host = line.substr(0, gap);
    const std::string text = gap == std::string::npos ? "" : line.substr(gap + 1);
    if (host.empty() || !text.starts_with('{') || !text.ends_with('}') || !std::getline(lines, event))
      return "'" + line + "' is parsed";
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object()) return "'" + line + "' has a clock in JSON";
    const Clock clock = json.get<Clock>();
    std::vector<Clock>& own = clocks[host];
    const auto self = clock.find(host);
    if (self == clock.end() || self->second != static_cast<int>(own.size()) + 1)
      return "'" + line + "' counts its host's events from 1, one by one";
    own.push_back(clock);
    all.push_back(clock);
  }
  if (all.empty()) return "there are events";
  for (const Clock& clock : all) {
    for (const auto& [peer, count] : clock) {
      const auto theirs = clocks.find(peer);
      if (theirs == clocks.end() || count < 1 || count > static_cast<int>(theirs->second.size()))
        return fmt::format("a clock refers to event {} of {}, which exists", count, peer);
      // What an event knows of includes all that was known there.
      for (const auto& [other, known] : theirs->second[static_cast<std::size_t>(count) - 1]) {
        const auto here = clock.find(other);
        if (here == clock.end() || here->second < known) return "clocks do not go back along " + peer;
      }
    }
  }
  return "";
}

}  // namespace holdfast::pictures
