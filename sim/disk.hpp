// A node's disk: append-only files of records, and what a crash leaves of them.
//
// Contract. The disk knows a record by an id that the caller chose; the content is the caller's.
//   - A record covered by a sync that completed without error survives every crash.
//   - The records appended since survive a crash as a prefix, whose length a keyed draw decides. The record
//     after that prefix may be torn: it is present but fails its checksum. Everything behind it is gone.
//   - A torn or corrupted record is never read as truth: reading it gives an error, and recover() ends before
//     it, as a reader of a log must.
//   - Before a crash a process reads its own writes, synced or not.
//   - A failed sync makes nothing durable. The records stay as they were, and a later sync covers them.
//
// Time is the caller's: beginSync() says how long the sync takes, and the caller calls completeSync() when
// that time has come. A sync that was under way when the node crashed completes nothing.
//
// Positions count the records of a file from 0 and stay what they are when the front of the file is dropped.
#pragma once

#include <boost/describe/class.hpp>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "sim/random.hpp"
#include "sim/time.hpp"

namespace holdfast::sim {

/// How fast a disk is, and how it fails in a crash.
struct SyncOptions {
  /// From the append to the moment a sync may begin.
  LatencyDistribution append{microseconds(5), microseconds(20), microseconds(200), 1'000};
  /// From beginSync() to its completion.
  LatencyDistribution sync{microseconds(200), milliseconds(1), milliseconds(20), 5'000};
  /// Probability that a crash leaves a torn record behind the surviving prefix, if there was one to tear.
  std::uint32_t tornPpm = 250'000;

  friend constexpr bool operator==(const SyncOptions&, const SyncOptions&) = default;
};

BOOST_DESCRIBE_STRUCT(SyncOptions, (), (append, sync, tornPpm))

/// A file of one disk, numbered by the caller from 0.
struct FileId {
  std::uint16_t value = 0;
  friend constexpr auto operator<=>(FileId, FileId) = default;
};

/// What went wrong, and where.
struct DiskError {
  enum class Kind : std::uint8_t {
    noSuchFile,      ///< The disk has fewer files.
    noSuchRecord,    ///< The position is before the first or behind the last record of the file.
    checksum,        ///< The record is torn or corrupted.
    syncFailed,      ///< failNextSync() was asked for; nothing became durable.
    syncSuperseded,  ///< The node crashed since the sync began; nothing became durable.
  };
  Kind kind = Kind::noSuchFile;
  FileId file{};
  std::uint64_t position = 0;

  std::string text() const;
  friend constexpr bool operator==(const DiskError&, const DiskError&) = default;
};

/// A sync under way; given back to completeSync() after `latency`.
struct SyncTicket {
  FileId file{};
  std::uint64_t through = 0;  ///< Records before this position become durable.
  std::uint32_t crashes = 0;  ///< Crashes of the disk before the sync began.
  bool fails = false;
  Duration latency{};
};

/// What a crash did to one file.
struct CrashLoss {
  FileId file{};
  std::uint64_t unsynced = 0;  ///< Records that were not yet durable.
  std::uint64_t survived = 0;  ///< How many of them, from the first on, are readable after the crash.
  bool torn = false;           ///< Whether the next one is present with a wrong checksum.

  friend constexpr bool operator==(const CrashLoss&, const CrashLoss&) = default;
};

/// What a reader of a file finds when it starts at the front.
struct Recovered {
  std::uint64_t end = 0;  ///< Position behind the last record before the first bad one.
  bool bad = false;       ///< A record that fails its checksum is at `end`.
  bool tail = false;      ///< It is the last of the file, as a torn one is; otherwise good data may follow.
};

class Disk {
 public:
  Disk() = default;
  /// `entity` keys the draws; it is the node's id, so that the disks of one run fail independently.
  Disk(std::uint16_t fileCount, std::uint64_t seed, std::uint64_t entity, const SyncOptions& options = {});

  /// Adds a record to the end of the file and gives its position.
  std::expected<std::uint64_t, DiskError> append(FileId file, std::uint64_t recordId);
  /// The time that the last append to the file takes.
  Duration appendLatency(FileId file) const;

  /// Starts making durable everything that the file holds now.
  std::expected<SyncTicket, DiskError> beginSync(FileId file);
  /// Ends a sync; gives the position through which the file is now durable.
  std::expected<std::uint64_t, DiskError> completeSync(const SyncTicket& ticket);
  /// Marks everything before `position` durable at once, for a caller that draws its own latency.
  std::expected<std::uint64_t, DiskError> syncedThrough(FileId file, std::uint64_t position);

  /// Loses what the contract lets a crash lose, in every file; the n-th crash draws with index n. Files in
  /// which everything was durable are not listed.
  std::vector<CrashLoss> crash();
  /// The same with a chosen outcome, for a directed schedule: in every file the first `survive` unsynced
  /// records survive, and the next one, if any, is torn when `torn` says so.
  std::vector<CrashLoss> crashWith(std::uint64_t survive, bool torn);

  /// The id of the record, or why it cannot be read.
  std::expected<std::uint64_t, DiskError> read(FileId file, std::uint64_t position) const;
  /// How far the file can be read from its front.
  std::expected<Recovered, DiskError> recover(FileId file) const;

  /// Drops the records from `position` on; what a process does with a bad tail before it appends again.
  std::expected<void, DiskError> truncate(FileId file, std::uint64_t position);
  /// Drops the records before `position`, which a purge no longer needs.
  std::expected<void, DiskError> dropBefore(FileId file, std::uint64_t position);

  /// The next sync that begins on the file fails when it completes.
  std::expected<void, DiskError> failNextSync(FileId file);
  /// Spoils the first record with this id, durable or not; its checksum will tell.
  std::expected<void, DiskError> corrupt(FileId file, std::uint64_t recordId);

  /// Positions of the first record, behind the last durable one, and behind the last; 0 for a file the disk
  /// does not have.
  std::uint64_t begin(FileId file) const { return known(file) ? files_[file.value].first : 0; }
  std::uint64_t durableEnd(FileId file) const { return known(file) ? files_[file.value].durable : 0; }
  std::uint64_t end(FileId file) const { return known(file) ? files_[file.value].end() : 0; }
  std::uint32_t crashes() const { return crashes_; }
  std::uint16_t fileCount() const { return static_cast<std::uint16_t>(files_.size()); }

  friend bool operator==(const Disk&, const Disk&) = default;

 private:
  struct Record {
    std::uint64_t id = 0;
    bool good = true;
    friend bool operator==(const Record&, const Record&) = default;
  };

  struct File {
    std::vector<Record> records;
    std::uint64_t first = 0;
    std::uint64_t durable = 0;
    std::uint64_t appends = 0;
    std::uint64_t syncs = 0;
    bool failNextSync = false;

    std::uint64_t end() const { return first + records.size(); }
    friend bool operator==(const File&, const File&) = default;
  };

  bool known(FileId file) const { return file.value < files_.size(); }
  std::uint64_t entity(FileId file) const { return entity_ << 16 | file.value; }
  CrashLoss lose(FileId file, std::uint64_t survive, bool torn);

  KeyedRandom random_;
  std::uint64_t entity_ = 0;
  SyncOptions options_;
  std::uint32_t crashes_ = 0;
  std::vector<File> files_;
};

/// One line of text with every option and its unit.
std::string describe(const SyncOptions& options);

}  // namespace holdfast::sim
