#include "protocol/canonical_key.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace holdfast::protocol {
namespace {

// Tags are in the order of the kinds. kEnd is less than all of them, so that an array sorts before every
// array that goes on after it.
enum Tag : std::uint8_t {
  kEnd = 0x00,
  kNull = 0x10,
  kFalse = 0x20,
  kTrue = 0x21,
  kNumber = 0x30,
  kString = 0x40,
  kBytes = 0x50,
  kArray = 0x60,
};

// In strings and bytes a NUL is written as NUL FF, and NUL 01 ends them: an end sorts before all that can
// follow instead, and no encoding is a prefix of another.
constexpr char kEscaped = '\xff';
constexpr char kTerminator = '\x01';

std::unexpected<KeyError> refuse(std::string text) { return std::unexpected(KeyError{std::move(text)}); }

// ---- Numbers ----------------------------------------------------------------------------------------------

/// The doubles next to 2^63 are 1,024 apart.
constexpr std::uint16_t kGreatestDistance = 1'023;

/// A number as the greatest double that is not above it, and how far above that double it is. Only integers
/// beyond 2^53 have a distance.
struct SplitNumber {
  double floor = 0;
  std::uint16_t above = 0;
};

SplitNumber split(std::int64_t value) {
  const std::uint64_t bits = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = value < 0 ? 0 - bits : bits;
  const int excess = std::bit_width(magnitude) - std::numeric_limits<double>::digits;
  if (excess <= 0) return {static_cast<double>(value), 0};
  // Clearing the low bits in two's complement rounds down for either sign.
  const std::uint64_t low = bits & ((std::uint64_t{1} << excess) - 1);
  return {static_cast<double>(static_cast<std::int64_t>(bits - low)), static_cast<std::uint16_t>(low)};
}

/// Maps doubles to integers of the same order; zeros are equal.
std::uint64_t orderedBits(double value) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

double fromOrderedBits(std::uint64_t ordered) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return std::bit_cast<double>((ordered & kSign) != 0 ? ordered & ~kSign : ~ordered);
}

void appendBigEndian(std::string& out, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

void appendNumber(std::string& out, SplitNumber number) {
  out.push_back(kNumber);
  appendBigEndian(out, orderedBits(number.floor), 8);
  appendBigEndian(out, number.above, 2);
}

constexpr double kTwoTo63 = 9'223'372'036'854'775'808.0;

/// The number of a split, as an integer when it is one that fits.
KeyPart::Value joined(SplitNumber number) {
  const bool integer =
      number.floor >= -kTwoTo63 && number.floor < kTwoTo63 && number.floor == std::trunc(number.floor);
  if (!integer) return number.floor;
  return static_cast<std::int64_t>(number.floor) + number.above;
}

// ---- Encoder ----------------------------------------------------------------------------------------------

/// Appends the encoding of one part; stops at the first thing that is no key.
class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  /// The text of the refusal; empty when the part was encoded.
  std::string encode(const KeyPart& part) {
    if (out_.size() > kMaxKeyBytes) return tooLong();
    std::string refusal = std::visit([this](const auto& value) { return append(value); }, part.value);
    if (refusal.empty() && out_.size() > kMaxKeyBytes) refusal = tooLong();
    return refusal;
  }

 private:
  static std::string tooLong() {
    return fmt::format("the encoded key is longer than {} bytes; use a shorter key", kMaxKeyBytes);
  }

  std::string append(std::monostate) {
    out_.push_back(kNull);
    return {};
  }

  std::string append(bool value) {
    out_.push_back(value ? kTrue : kFalse);
    return {};
  }

  std::string append(std::int64_t value) {
    appendNumber(out_, split(value));
    return {};
  }

  std::string append(double value) {
    if (std::isnan(value)) return "a key contains NaN, which equals nothing; use null or a number";
    appendNumber(out_, {value, 0});
    return {};
  }

  std::string append(const std::string& value) {
    if (value.size() > kMaxKeyBytes) return tooLong();
    if (!isUtf8(value)) return "a string in a key is not valid UTF-8; use bytes for binary keys";
    out_.push_back(kString);
    appendEscaped(value);
    return {};
  }

  std::string append(const KeyPart::Bytes& value) {
    if (value.size() > kMaxKeyBytes) return tooLong();
    out_.push_back(kBytes);
    appendEscaped(value);
    return {};
  }

  std::string append(const KeyPart::Array& parts) {
    if (depth_ == kMaxKeyDepth) {
      return fmt::format("a key nests arrays deeper than {} levels; use a flatter key", kMaxKeyDepth);
    }
    ++depth_;
    out_.push_back(kArray);
    for (const KeyPart& part : parts) {
      if (std::string refusal = encode(part); !refusal.empty()) return refusal;
    }
    out_.push_back(kEnd);
    --depth_;
    return {};
  }

  void appendEscaped(const auto& value) {
    for (const auto byte : value) {
      out_.push_back(static_cast<char>(byte));
      if (byte == 0) out_.push_back(kEscaped);
    }
    out_.push_back('\0');
    out_.push_back(kTerminator);
  }

  std::string& out_;
  std::size_t depth_ = 0;
};

// ---- Decoder ----------------------------------------------------------------------------------------------

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  std::expected<KeyPart, KeyError> decodeAll() {
    if (bytes_.size() > kMaxKeyBytes) {
      return refuse(
          fmt::format("the encoded key has {} bytes; at most {} are allowed", bytes_.size(), kMaxKeyBytes));
    }
    auto part = decode();
    if (part && at_ != bytes_.size()) {
      return bad(fmt::format("{} bytes follow after the end of the key", bytes_.size() - at_));
    }
    return part;
  }

 private:
  std::unexpected<KeyError> bad(std::string_view what) const {
    return refuse(fmt::format("encoded key, byte {}: {}", at_, what));
  }

  std::expected<KeyPart, KeyError> decode() {
    if (at_ == bytes_.size()) return bad("the key ends where a part should begin");
    const auto tag = static_cast<std::uint8_t>(bytes_[at_]);
    ++at_;
    switch (tag) {
      case kNull:
        return KeyPart{};
      case kFalse:
        return KeyPart{false};
      case kTrue:
        return KeyPart{true};
      case kNumber:
        return decodeNumber();
      case kString:
        return decodeString();
      case kBytes:
        return decodeBytes();
      case kArray:
        return decodeArray();
      default:
        --at_;
        return bad(fmt::format("{:#04x} begins no part of a key", tag));
    }
  }

  std::expected<KeyPart, KeyError> decodeNumber() {
    constexpr std::size_t kNumberBytes = 10;
    if (bytes_.size() - at_ < kNumberBytes) return bad("a number takes 10 bytes, and fewer are left");
    const std::string_view encoded = bytes_.substr(at_, kNumberBytes);
    SplitNumber number;
    number.floor = fromOrderedBits(bigEndian(encoded.substr(0, 8)));
    number.above = static_cast<std::uint16_t>(bigEndian(encoded.substr(8)));
    if (std::isnan(number.floor)) return bad("a number is NaN");
    if (number.above > kGreatestDistance) return bad("a number is not in its one canonical form");
    const KeyPart::Value value = joined(number);
    // Only one encoding of each number is right: what does not come out again was not made by the encoder.
    std::string again;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      appendNumber(again, split(*integer));
    } else {
      appendNumber(again, {std::get<double>(value), 0});
    }
    if (std::string_view(again).substr(1) != encoded) return bad("a number is not in its one canonical form");
    at_ += kNumberBytes;
    return KeyPart{value};
  }

  static std::uint64_t bigEndian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<std::uint8_t>(byte);
    return value;
  }

  std::expected<std::string, KeyError> unescape() {
    std::string content;
    while (at_ < bytes_.size()) {
      const char byte = bytes_[at_++];
      if (byte != '\0') {
        content.push_back(byte);
        continue;
      }
      if (at_ == bytes_.size()) break;
      const char next = bytes_[at_++];
      if (next == kTerminator) return content;
      if (next != kEscaped) return bad("a NUL is followed by neither its escape nor the terminator");
      content.push_back('\0');
    }
    return bad("a string or byte part has no terminator");
  }

  std::expected<KeyPart, KeyError> decodeString() {
    auto content = unescape();
    if (!content) return std::unexpected(content.error());
    if (!isUtf8(*content)) return bad("a string is not valid UTF-8");
    return KeyPart{std::move(*content)};
  }

  std::expected<KeyPart, KeyError> decodeBytes() {
    const auto content = unescape();
    if (!content) return std::unexpected(content.error());
    return KeyPart{KeyPart::Bytes(content->begin(), content->end())};
  }

  std::expected<KeyPart, KeyError> decodeArray() {
    if (depth_ == kMaxKeyDepth) return bad(fmt::format("arrays nest deeper than {} levels", kMaxKeyDepth));
    ++depth_;
    KeyPart::Array parts;
    while (at_ < bytes_.size() && bytes_[at_] != kEnd) {
      auto part = decode();
      if (!part) return part;
      parts.push_back(std::move(*part));
    }
    if (at_ == bytes_.size()) return bad("an array has no end");
    ++at_;
    --depth_;
    return KeyPart{std::move(parts)};
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

/// How many bytes the code point that begins with `lead` takes; 0 when none begins with it.
std::size_t utf8Length(std::uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >> 5 == 0x06) return 2;
  if (lead >> 4 == 0x0e) return 3;
  if (lead >> 3 == 0x1e) return 4;
  return 0;
}

/// The text of the refusal of a database's or table's name; empty when it is a good one.
std::string refusalOfName(std::string_view what, std::string_view name) {
  if (name.empty()) return fmt::format("the {} name is empty; give it at least one byte", what);
  if (name.size() > kMaxNameBytes) {
    return fmt::format("the {} name has {} bytes; at most {} are allowed", what, name.size(), kMaxNameBytes);
  }
  if (const auto nul = name.find('\0'); nul != std::string_view::npos) {
    return fmt::format("the {} name contains a NUL at byte {}; NUL separates the parts of a canonical key",
                       what, nul);
  }
  if (!isUtf8(name)) return fmt::format("the {} name is not valid UTF-8", what);
  return {};
}

}  // namespace

std::expected<std::string, KeyError> orderedBinary(const KeyPart& key) {
  std::string out;
  if (std::string refusal = Encoder(out).encode(key); !refusal.empty()) return refuse(std::move(refusal));
  return out;
}

std::expected<KeyPart, KeyError> decodeOrderedBinary(std::string_view bytes) {
  return Decoder(bytes).decodeAll();
}

std::expected<std::string, KeyError> canonicalKey(std::string_view database, std::string_view table,
                                                  const KeyPart& key) {
  if (std::string refusal = refusalOfName("database", database); !refusal.empty()) {
    return refuse(std::move(refusal));
  }
  if (std::string refusal = refusalOfName("table", table); !refusal.empty())
    return refuse(std::move(refusal));
  const auto binary = orderedBinary(key);
  if (!binary) return binary;
  std::string out;
  out.reserve(database.size() + table.size() + binary->size() + 2);
  out.append(database).push_back('\0');
  out.append(table).push_back('\0');
  out.append(*binary);
  return out;
}

std::expected<CanonicalKeyParts, KeyError> decodeCanonicalKey(std::string_view bytes) {
  const auto databaseEnd = bytes.find('\0');
  const auto tableEnd =
      databaseEnd == std::string_view::npos ? std::string_view::npos : bytes.find('\0', databaseEnd + 1);
  if (tableEnd == std::string_view::npos) {
    return refuse("a canonical key is database, NUL, table, NUL, key; one of the two NULs is missing");
  }
  const std::string_view database = bytes.substr(0, databaseEnd);
  const std::string_view table = bytes.substr(databaseEnd + 1, tableEnd - databaseEnd - 1);
  if (std::string refusal = refusalOfName("database", database); !refusal.empty()) {
    return refuse(std::move(refusal));
  }
  if (std::string refusal = refusalOfName("table", table); !refusal.empty())
    return refuse(std::move(refusal));
  auto key = decodeOrderedBinary(bytes.substr(tableEnd + 1));
  if (!key) return std::unexpected(key.error());
  return CanonicalKeyParts{std::string(database), std::string(table), std::move(*key)};
}

bool isUtf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<std::uint8_t>(text[i]);
    const std::size_t length = utf8Length(lead);
    if (length == 0 || text.size() - i < length) return false;
    std::uint32_t point = length == 1 ? lead : lead & (0x7fU >> length);
    for (std::size_t j = 1; j < length; ++j) {
      const auto next = static_cast<std::uint8_t>(text[i + j]);
      if (next >> 6 != 0x2) return false;
      point = point << 6 | (next & 0x3fU);
    }
    constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = point >= 0xd800 && point <= 0xdfff;
    if (point < kLeast[length] || point > 0x10ffff || surrogate) return false;
    i += length;
  }
  return true;
}

}  // namespace holdfast::protocol
