#include "sim/disk.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

namespace holdfast::sim {
namespace {

// Streams of the draws made here. They are arbitrary but fixed: changing one changes every recorded run.
constexpr std::uint64_t kAppendStream = 0x64736b2e61707064ULL;  // "dsk.appd"
constexpr std::uint64_t kSyncStream = 0x64736b2e73796e63ULL;    // "dsk.sync"
constexpr std::uint64_t kCrashStream = 0x64736b2e63727368ULL;   // "dsk.crsh"

std::unexpected<DiskError> fail(DiskError::Kind kind, FileId file, std::uint64_t position = 0) {
  return std::unexpected(DiskError{kind, file, position});
}

}  // namespace

std::string DiskError::text() const {
  switch (kind) {
    case Kind::noSuchFile:
      return fmt::format("disk: there is no file {}", file.value);
    case Kind::noSuchRecord:
      return fmt::format("disk: file {} has no record at {}", file.value, position);
    case Kind::checksum:
      return fmt::format("disk: record {} of file {} fails its checksum", position, file.value);
    case Kind::syncFailed:
      return fmt::format("disk: sync of file {} through {} failed, nothing became durable", file.value,
                         position);
    case Kind::syncSuperseded:
      return fmt::format("disk: sync of file {} through {} began before a crash", file.value, position);
  }
  return "disk: unknown error";
}

Disk::Disk(std::uint16_t fileCount, std::uint64_t seed, std::uint64_t entity, const SyncOptions& options)
    : random_{seed}, entity_(entity), options_(options), files_(fileCount) {}

std::expected<std::uint64_t, DiskError> Disk::append(FileId file, std::uint64_t recordId) {
  if (!known(file)) return fail(DiskError::Kind::noSuchFile, file);
  File& f = files_[file.value];
  ++f.appends;
  f.records.push_back({recordId, true});
  return f.end() - 1;
}

Duration Disk::appendLatency(FileId file) const {
  if (!known(file)) return {};
  return options_.append.sample(random_, kAppendStream, entity(file), files_[file.value].appends);
}

std::expected<SyncTicket, DiskError> Disk::beginSync(FileId file) {
  if (!known(file)) return fail(DiskError::Kind::noSuchFile, file);
  File& f = files_[file.value];
  SyncTicket ticket;
  ticket.file = file;
  ticket.through = f.end();
  ticket.crashes = crashes_;
  ticket.fails = f.failNextSync;
  ticket.latency = options_.sync.sample(random_, kSyncStream, entity(file), f.syncs++);
  f.failNextSync = false;
  return ticket;
}

std::expected<std::uint64_t, DiskError> Disk::completeSync(const SyncTicket& ticket) {
  if (!known(ticket.file)) return fail(DiskError::Kind::noSuchFile, ticket.file);
  if (ticket.crashes != crashes_) return fail(DiskError::Kind::syncSuperseded, ticket.file, ticket.through);
  if (ticket.fails) return fail(DiskError::Kind::syncFailed, ticket.file, ticket.through);
  return syncedThrough(ticket.file, std::min(ticket.through, files_[ticket.file.value].end()));
}

std::expected<std::uint64_t, DiskError> Disk::syncedThrough(FileId file, std::uint64_t position) {
  if (!known(file)) return fail(DiskError::Kind::noSuchFile, file);
  File& f = files_[file.value];
  if (position > f.end()) return fail(DiskError::Kind::noSuchRecord, file, position);
  f.durable = std::max(f.durable, position);
  return f.durable;
}

CrashLoss Disk::lose(FileId file, std::uint64_t survive, bool torn) {
  File& f = files_[file.value];
  CrashLoss loss;
  loss.file = file;
  loss.unsynced = f.end() - f.durable;
  loss.survived = std::min(survive, loss.unsynced);
  loss.torn = torn && loss.survived < loss.unsynced;
  const std::uint64_t kept = f.durable - f.first + loss.survived + (loss.torn ? 1 : 0);
  f.records.resize(static_cast<std::size_t>(kept));
  if (loss.torn) f.records.back().good = false;
  // What a crash left behind is on the platter, so the next crash cannot take it.
  f.durable = f.end();
  f.failNextSync = false;
  return loss;
}

std::vector<CrashLoss> Disk::crash() {
  std::vector<CrashLoss> losses;
  for (std::uint16_t i = 0; i < fileCount(); ++i) {
    const std::uint64_t unsynced = files_[i].end() - files_[i].durable;
    if (unsynced == 0) continue;
    const std::uint64_t draw = random_.bits(kCrashStream, entity(FileId{i}), crashes_);
    const std::uint64_t survive = scaleBelow(draw, unsynced + 1);
    losses.push_back(lose(FileId{i}, survive, scaleChance(mix(draw, 1), options_.tornPpm)));
  }
  ++crashes_;
  return losses;
}

std::vector<CrashLoss> Disk::crashWith(std::uint64_t survive, bool torn) {
  std::vector<CrashLoss> losses;
  for (std::uint16_t i = 0; i < fileCount(); ++i) {
    if (files_[i].end() != files_[i].durable) losses.push_back(lose(FileId{i}, survive, torn));
  }
  ++crashes_;
  return losses;
}

std::expected<std::uint64_t, DiskError> Disk::read(FileId file, std::uint64_t position) const {
  if (!known(file)) return fail(DiskError::Kind::noSuchFile, file);
  const File& f = files_[file.value];
  if (position < f.first || position >= f.end()) return fail(DiskError::Kind::noSuchRecord, file, position);
  const Record& record = f.records[static_cast<std::size_t>(position - f.first)];
  if (!record.good) return fail(DiskError::Kind::checksum, file, position);
  return record.id;
}

std::expected<Recovered, DiskError> Disk::recover(FileId file) const {
  if (!known(file)) return fail(DiskError::Kind::noSuchFile, file);
  const File& f = files_[file.value];
  const auto bad = std::find_if(f.records.begin(), f.records.end(), [](const Record& r) { return !r.good; });
  Recovered found;
  found.end = f.first + static_cast<std::uint64_t>(bad - f.records.begin());
  found.bad = bad != f.records.end();
  found.tail = found.bad && bad + 1 == f.records.end();
  return found;
}

std::expected<void, DiskError> Disk::truncate(FileId file, std::uint64_t position) {
  if (!known(file)) return fail(DiskError::Kind::noSuchFile, file);
  File& f = files_[file.value];
  if (position < f.first || position > f.end()) return fail(DiskError::Kind::noSuchRecord, file, position);
  f.records.resize(static_cast<std::size_t>(position - f.first));
  f.durable = std::min(f.durable, position);
  return {};
}

std::expected<void, DiskError> Disk::dropBefore(FileId file, std::uint64_t position) {
  if (!known(file)) return fail(DiskError::Kind::noSuchFile, file);
  File& f = files_[file.value];
  if (position > f.end()) return fail(DiskError::Kind::noSuchRecord, file, position);
  if (position <= f.first) return {};
  f.records.erase(f.records.begin(), f.records.begin() + static_cast<std::ptrdiff_t>(position - f.first));
  f.first = position;
  f.durable = std::max(f.durable, position);
  return {};
}

std::expected<void, DiskError> Disk::failNextSync(FileId file) {
  if (!known(file)) return fail(DiskError::Kind::noSuchFile, file);
  files_[file.value].failNextSync = true;
  return {};
}

std::expected<void, DiskError> Disk::corrupt(FileId file, std::uint64_t recordId) {
  if (!known(file)) return fail(DiskError::Kind::noSuchFile, file);
  File& f = files_[file.value];
  const auto record =
      std::find_if(f.records.begin(), f.records.end(), [&](const Record& r) { return r.id == recordId; });
  if (record == f.records.end()) return fail(DiskError::Kind::noSuchRecord, file, f.end());
  record->good = false;
  return {};
}

std::string describe(const SyncOptions& options) {
  return fmt::format("append {}; sync {}; torn {} ppm", describe(options.append), describe(options.sync),
                     options.tornPpm);
}

}  // namespace holdfast::sim
