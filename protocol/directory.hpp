// The names and keys of a run: immutable, shared by all nodes, interned before the run starts.
//
// Protocol code carries NodeId and KeyId; whoever needs the bytes behind them (routing, RT-1) looks here.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ids.hpp"

namespace holdfast::protocol {

/// What is known of a key: its table (caps are counted per table, BD-1) and its canonical bytes (RT-2).
struct KeyInfo {
  std::string printable;       // "accounts/alice"
  std::string canonicalBytes;  // see canonical_key.hpp
  std::uint16_t table = 0;     // dense number of the key's table
};

/// Node names in byte order (a NodeId is an index into them) and keys (a KeyId is an index into them).
/// Built once before a run; never changes during it.
class Directory {
 public:
  /// `names` must be distinct, non-empty and distinctive ("localhost" and loopback addresses are refused by
  /// validateNames()); they are sorted here. At most 65'534 names.
  Directory(std::vector<std::string> names, std::vector<KeyInfo> keys);

  std::size_t nodeCount() const { return names_.size(); }
  std::size_t keyCount() const { return keys_.size(); }
  std::size_t tableCount() const { return tables_; }
  const std::string& name(sim::NodeId node) const { return names_[node.value]; }
  const KeyInfo& key(sim::KeyId key) const { return keys_[key.value]; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<KeyInfo>& keys() const { return keys_; }
  /// The node of that name; NodeId::none() when there is none.
  sim::NodeId find(std::string_view name) const;

 private:
  std::vector<std::string> names_;
  std::vector<KeyInfo> keys_;
  std::size_t tables_ = 0;
};

/// Whether `names` can tell the nodes of a cluster apart (RT-4). Refuses no names or more than 65'534, an
/// empty name, one longer than 255 bytes (BD-1), a duplicate, and names that mean "myself" on every machine:
/// localhost, 127.x.x.x, ::1, 0.0.0.0 and ::. The text names the offending entry.
std::expected<void, std::string> validateNames(const std::vector<std::string>& names);

}  // namespace holdfast::protocol
