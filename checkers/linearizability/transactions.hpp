// Anomalies of transactions, found as cycles of their dependencies (Adya 1999; Kingsbury and Alvaro 2020).
//
// Histories are of two kinds. In list-append every write appends a value of its own to a list and a read
// shows the whole list, so that each list tells in which order its values were written. In read-write
// registers every write has a value of its own, and the order of versions is known where a transaction that
// read a version wrote the next one.
//
// Dependencies: ww (the next version), wr (read that version), rw (read the version before: an
// anti-dependency), and real time (returned before the other was invoked).
//
// Contract: findAnomalies() is a pure function of its arguments, and each anomaly is told with one of the
// shortest cycles of its kind that it met. A transaction without a known outcome counts as committed if
// somebody has read what it wrote, and else not at all.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "checkers/linearizability/history.hpp"

namespace holdfast::linearizability {

/// One step of a transaction. Keys and values are numbers that whoever reads the history gives to them.
struct Access {
  enum class Kind : std::uint8_t { append, write, read };

  Kind kind = Kind::read;
  std::int64_t key = 0;
  std::int64_t value = 0;          ///< That is appended or written, or was read from a register.
  std::vector<std::int64_t> list;  ///< That was read from a list.
};

enum class Ending : std::uint8_t { committed, aborted, unknown };

struct Transaction {
  Ending ending = Ending::unknown;
  std::uint32_t invoked = 0;
  std::uint32_t returned = kNever;
  std::vector<Access> accesses;  ///< In their order; reads of an `unknown` one are left out.
};

/// Gravest first. The ones with RealTime need real time for their cycle: what serializability allows and
/// strict serializability does not.
enum class Anomaly : std::uint8_t {
  abortedRead,        ///< G1a: somebody read what an aborted transaction wrote.
  intermediateRead,   ///< G1b: somebody read what the writer itself overwrote.
  incompatibleOrder,  ///< Two reads of a list of which neither is a beginning of the other.
  internal,           ///< A transaction did not see its own writes, or two of its reads differ.
  lostUpdate,         ///< Two transactions read one version and each wrote the next.
  g0,                 ///< A cycle of ww.
  g1c,                ///< A cycle of ww and wr.
  gSingle,            ///< A cycle with one rw: read skew.
  g2,                 ///< A cycle with several rw: write skew.
  staleRead,          ///< A cycle with one rw and real time.
  realTime            ///< Another cycle with real time.
};

std::string_view nameOf(Anomaly anomaly);

/// What leads from a transaction of a cycle to the next one.
enum class Dependency : std::uint8_t { ww, wr, rw, realTime };

std::string_view nameOf(Dependency dependency);

struct Link {
  std::uint32_t from = 0;  ///< Transactions, by index.
  std::uint32_t to = 0;
  Dependency dependency = Dependency::ww;
  std::int64_t key = 0;  ///< Not of real time.
};

struct AnomalyFound {
  Anomaly anomaly = Anomaly::g0;
  std::vector<Link> cycle;                  ///< Empty for those that are no cycle.
  std::vector<std::uint32_t> transactions;  ///< The ones that show it.
  std::int64_t key = 0;                     ///< Of those that are no cycle.
};

enum class Workload : std::uint8_t { listAppend, registers };

/// One of each kind of anomaly that the history has, gravest first; none if it is strictly serializable as
/// far as its reads tell.
std::vector<AnomalyFound> findAnomalies(const std::vector<Transaction>& history, Workload workload);

}  // namespace holdfast::linearizability
