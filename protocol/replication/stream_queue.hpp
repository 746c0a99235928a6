// The queue of received entries of one origin: first in, first out, without allocation once it has grown.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "protocol/log_entry.hpp"

namespace holdfast::protocol {

/// An entry that has arrived and waits to be applied.
struct ReceivedEntry {
  Position position = 0;
  LogEntry entry;
};
BOOST_DESCRIBE_STRUCT(ReceivedEntry, (), (position, entry))

class StreamQueue {
 public:
  bool empty() const { return begin_ == entries_.size(); }
  std::size_t size() const { return entries_.size() - begin_; }
  /// How many entries there is memory for; bounded by a small multiple of the most that were in it at once.
  std::size_t capacity() const { return entries_.capacity(); }
  const ReceivedEntry& front() const { return entries_[begin_]; }
  const ReceivedEntry& back() const { return entries_.back(); }
  const ReceivedEntry& operator[](std::size_t index) const { return entries_[begin_ + index]; }

  void push(Position position, const LogEntry& entry) {
    // The taken front part is reclaimed before the vector would grow for it; each entry moves at most once
    // for an entry taken before it.
    if (entries_.size() == entries_.capacity() && begin_ > entries_.size() / 2) compact();
    entries_.push_back({position, entry});
  }

  /// Precondition: not empty.
  ReceivedEntry takeFront() {
    ReceivedEntry taken = std::move(entries_[begin_]);
    ++begin_;
    if (empty()) compact();
    return taken;
  }

  /// Precondition: not empty.
  ReceivedEntry takeBack() {
    ReceivedEntry taken = std::move(entries_.back());
    entries_.pop_back();
    if (empty()) compact();
    return taken;
  }

 private:
  void compact() {
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }

  std::vector<ReceivedEntry> entries_;
  std::size_t begin_ = 0;
};

}  // namespace holdfast::protocol
