// Canonical keys (RT-2): equal keys have equal bytes, different keys different bytes, and bytes compare as
// keys do. The order of keys is written down here a second time, on the keys themselves.
#include "protocol/canonical_key.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <string>

namespace holdfast::protocol {

using Number = long double;  // 64 bits of mantissa: holds every int64 and every double

std::ostream& operator<<(std::ostream& out, const KeyPart& part) {
  struct Print {
    std::ostream& out;
    void operator()(std::monostate) const { out << "null"; }
    void operator()(bool value) const { out << (value ? "true" : "false"); }
    void operator()(std::int64_t value) const { out << value; }
    void operator()(double value) const { out << "double " << value; }
    void operator()(const std::string& value) const { out << '"' << value << '"'; }
    void operator()(const KeyPart::Bytes& value) const {
      out << "bytes";
      for (const int byte : value) out << ' ' << byte;
    }
    void operator()(const KeyPart::Array& value) const {
      out << '[';
      for (const KeyPart& part : value) out << part << ',';
      out << ']';
    }
  };
  std::visit(Print{out}, part.value);
  return out;
}

namespace {

static_assert(std::numeric_limits<Number>::digits >= 64, "the reference order needs exact 64-bit numbers");

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- The reference order ----------------------------------------------------------------------------------

int kindOf(const KeyPart& part) {
  struct Kind {
    int operator()(std::monostate) const { return 0; }
    int operator()(bool value) const { return value ? 2 : 1; }
    int operator()(std::int64_t) const { return 3; }
    int operator()(double) const { return 3; }
    int operator()(const std::string&) const { return 4; }
    int operator()(const KeyPart::Bytes&) const { return 5; }
    int operator()(const KeyPart::Array&) const { return 6; }
  };
  return std::visit(Kind{}, part.value);
}

Number numberOf(const KeyPart& part) {
  if (const auto* integer = std::get_if<std::int64_t>(&part.value)) return static_cast<Number>(*integer);
  return static_cast<Number>(std::get<double>(part.value));
}

int signOf(auto order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

int compare(const KeyPart& a, const KeyPart& b) {
  if (kindOf(a) != kindOf(b)) return kindOf(a) < kindOf(b) ? -1 : 1;
  switch (kindOf(a)) {
    case 3: {
      const Number left = numberOf(a);
      const Number right = numberOf(b);
      return left < right ? -1 : left > right ? 1 : 0;
    }
    case 4:
      return signOf(std::get<std::string>(a.value).compare(std::get<std::string>(b.value)));
    case 5:
      return signOf(std::get<KeyPart::Bytes>(a.value) <=> std::get<KeyPart::Bytes>(b.value));
    case 6: {
      const auto& left = std::get<KeyPart::Array>(a.value);
      const auto& right = std::get<KeyPart::Array>(b.value);
      for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
        if (const int order = compare(left[i], right[i]); order != 0) return order;
      }
      return signOf(left.size() <=> right.size());
    }
    default:
      return 0;
  }
}

// ---- Generators -------------------------------------------------------------------------------------------

void appendUtf8(std::string& out, std::uint32_t point) {
  if (point < 0x80) {
    out.push_back(static_cast<char>(point));
  } else if (point < 0x800) {
    out.push_back(static_cast<char>(0xc0 | point >> 6));
    out.push_back(static_cast<char>(0x80 | (point & 0x3f)));
  } else if (point < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | point >> 12));
    out.push_back(static_cast<char>(0x80 | (point >> 6 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (point & 0x3f)));
  } else {
    out.push_back(static_cast<char>(0xf0 | point >> 18));
    out.push_back(static_cast<char>(0x80 | (point >> 12 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (point >> 6 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (point & 0x3f)));
  }
}

/// Code points around the places where an encoding may go wrong: NUL, the terminator, each length's ends.
rc::Gen<std::string> genString() {
  const auto genPoint = rc::gen::element<std::uint32_t>(0, 1, 2, 'a', 'b', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff,
                                                        0xe000, 0xffff, 0x10000, 0x10ffff);
  return rc::gen::map(rc::gen::container<std::vector<std::uint32_t>>(genPoint),
                      [](std::vector<std::uint32_t> points) {
                        points.resize(std::min<std::size_t>(points.size(), 6));
                        std::string text;
                        for (const std::uint32_t point : points) appendUtf8(text, point);
                        return text;
                      });
}

rc::Gen<KeyPart> genNumber() {
  const auto near = [](std::int64_t value, int offset) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + static_cast<std::uint64_t>(offset));
  };
  const auto genAnchor = rc::gen::element<std::int64_t>(
      0, std::int64_t{1} << 52, std::int64_t{1} << 53, std::int64_t{1} << 54, std::int64_t{1} << 62,
      INT64_MAX, INT64_MIN, -(std::int64_t{1} << 53), -(std::int64_t{1} << 54), -(std::int64_t{1} << 62));
  const auto genInteger = rc::gen::oneOf(rc::gen::arbitrary<std::int64_t>(),
                                         rc::gen::apply(near, genAnchor, rc::gen::inRange(-1'030, 1'030)),
                                         rc::gen::apply(near, genAnchor, rc::gen::inRange(-3, 4)));
  const auto genDouble = rc::gen::oneOf(
      rc::gen::map(genInteger, [](std::int64_t value) { return static_cast<double>(value); }),
      rc::gen::map(genInteger,
                   [](std::int64_t value) { return std::nextafter(static_cast<double>(value), 0); }),
      rc::gen::element(0.0, -0.0, 0.5, -0.5, kInfinity, -kInfinity, 1e300, -1e300,
                       std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()));
  return rc::gen::oneOf(rc::gen::map(genInteger, [](std::int64_t value) { return KeyPart{value}; }),
                        rc::gen::map(genDouble, [](double value) { return KeyPart{value}; }));
}

rc::Gen<KeyPart> genScalar() {
  const auto genByte = rc::gen::element<std::uint8_t>(0, 1, 2, 'a', 0xfe, 0xff);
  return rc::gen::oneOf(rc::gen::element(KeyPart{}, KeyPart{false}, KeyPart{true}), genNumber(),
                        rc::gen::map(genString(), [](std::string text) { return KeyPart{std::move(text)}; }),
                        rc::gen::map(rc::gen::container<KeyPart::Bytes>(genByte), [](KeyPart::Bytes bytes) {
                          bytes.resize(std::min<std::size_t>(bytes.size(), 6));
                          return KeyPart{std::move(bytes)};
                        }));
}

rc::Gen<KeyPart> genPart(int depth) {
  if (depth == 0) return genScalar();
  const auto genArray = rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, 4), [depth](std::size_t size) {
    return rc::gen::map(rc::gen::container<KeyPart::Array>(size, genPart(depth - 1)),
                        [](KeyPart::Array parts) { return KeyPart{std::move(parts)}; });
  });
  return rc::gen::oneOf(genScalar(), genArray);
}

/// The other spelling of each number, where it has one: 1 for 1.0 and 1.0 for 1.
KeyPart respelled(const KeyPart& part) {
  if (const auto* array = std::get_if<KeyPart::Array>(&part.value)) {
    KeyPart::Array parts;
    for (const KeyPart& inner : *array) parts.push_back(respelled(inner));
    return KeyPart{parts};
  }
  if (const auto* integer = std::get_if<std::int64_t>(&part.value)) {
    const auto number = static_cast<double>(*integer);
    if (static_cast<Number>(number) == static_cast<Number>(*integer)) return KeyPart{number};
  }
  if (const auto* number = std::get_if<double>(&part.value)) {
    if (*number == 0) return KeyPart{-*number};
    if (std::abs(*number) < 1e18 && std::trunc(*number) == *number) {
      return KeyPart{static_cast<std::int64_t>(*number)};
    }
  }
  return part;
}

std::string encoded(const KeyPart& part) { return orderedBinary(part).value(); }

/// Byte order; std::string compares its chars as unsigned bytes.
int compareBytes(const std::string& a, const std::string& b) { return signOf(a.compare(b)); }

// ---- Properties -------------------------------------------------------------------------------------------

RC_GTEST_PROP(CanonicalKey, BytesCompareAsKeysDo, ()) {
  const auto a = *genPart(2);
  const auto b = *genPart(2);
  RC_CLASSIFY(kindOf(a) == kindOf(b), "same kind");
  RC_ASSERT(compareBytes(encoded(a), encoded(b)) == compare(a, b));
}

RC_GTEST_PROP(CanonicalKey, NumbersCompareExactly, ()) {
  const auto a = *genNumber();
  const auto b = *genNumber();
  RC_ASSERT(compareBytes(encoded(a), encoded(b)) == compare(a, b));
}

RC_GTEST_PROP(CanonicalKey, StringsOrderInsideComposites, ()) {
  const auto strings = *rc::gen::container<std::vector<std::string>>(4, genString());
  const KeyPart a{KeyPart::Array{KeyPart{strings[0]}, KeyPart{strings[1]}}};
  const KeyPart b{KeyPart::Array{KeyPart{strings[2]}, KeyPart{strings[3]}}};
  RC_ASSERT(compareBytes(encoded(a), encoded(b)) == compare(a, b));
}

RC_GTEST_PROP(CanonicalKey, EqualKeysAgree, ()) {
  const auto part = *genPart(3);
  RC_ASSERT(encoded(respelled(part)) == encoded(part));
}

RC_GTEST_PROP(CanonicalKey, DecodesToAnEqualKey, ()) {
  const auto part = *genPart(3);
  const auto decoded = decodeOrderedBinary(encoded(part));
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(compare(*decoded, part) == 0);
  RC_ASSERT(encoded(*decoded) == encoded(part));
}

RC_GTEST_PROP(CanonicalKey, AcceptsOnlyItsOwnBytes, ()) {
  auto bytes = encoded(*genPart(2));
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      bytes[at] = *rc::gen::arbitrary<char>();
      break;
    case 1:
      bytes.resize(at);
      break;
    default:
      bytes.insert(at, 1, *rc::gen::arbitrary<char>());
  }
  const auto decoded = decodeOrderedBinary(bytes);
  if (decoded.has_value()) {
    RC_ASSERT(encoded(*decoded) == bytes);
  } else {
    RC_ASSERT(!decoded.error().text.empty());
  }
}

RC_GTEST_PROP(CanonicalKey, NoEncodingIsAPrefixOfAnother, ()) {
  const auto a = encoded(*genPart(2));
  const auto b = encoded(*genPart(2));
  RC_ASSERT(a == b || !b.starts_with(a));
}

RC_GTEST_PROP(CanonicalKey, TheWholeIsInjective, ()) {
  const auto genName = rc::gen::element<std::string>("a", "b", "ab", "b\x01", "\x7f", "ä");
  const auto genWhole = rc::gen::tuple(genName, genName, genPart(1));
  const auto [database, table, key] = *genWhole;
  const auto [otherDatabase, otherTable, otherKey] = *genWhole;
  const bool same = database == otherDatabase && table == otherTable && compare(key, otherKey) == 0;
  const auto bytes = canonicalKey(database, table, key);
  const auto otherBytes = canonicalKey(otherDatabase, otherTable, otherKey);
  RC_ASSERT(bytes.has_value() && otherBytes.has_value());
  RC_ASSERT((*bytes == *otherBytes) == same);

  const auto parts = decodeCanonicalKey(*bytes);
  RC_ASSERT(parts.has_value());
  RC_ASSERT(parts->database == database);
  RC_ASSERT(parts->table == table);
  RC_ASSERT(compare(parts->key, key) == 0);
}

// ---- Examples ---------------------------------------------------------------------------------------------

TEST(CanonicalKeyExamples, HasTheFormOfRt2) {
  const auto bytes = canonicalKey("bank", "accounts", KeyPart{std::string("alice")});
  ASSERT_TRUE(bytes.has_value());
  const std::string expected(
      "bank\0accounts\0\x40"
      "alice\0\x01",
      22);
  EXPECT_EQ(*bytes, expected);
}

TEST(CanonicalKeyExamples, OneIsOneAndZeroIsZero) {
  EXPECT_EQ(encoded(KeyPart{std::int64_t{1}}), encoded(KeyPart{1.0}));
  EXPECT_EQ(encoded(KeyPart{0.0}), encoded(KeyPart{-0.0}));
  EXPECT_EQ(encoded(KeyPart{std::int64_t{0}}), encoded(KeyPart{-0.0}));
  EXPECT_NE(encoded(KeyPart{std::int64_t{1}}), encoded(KeyPart{true}));
  EXPECT_NE(encoded(KeyPart{std::int64_t{1}}), encoded(KeyPart{std::string("1")}));
  EXPECT_NE(encoded(KeyPart{std::string("a")}), encoded(KeyPart{KeyPart::Bytes{'a'}}));
}

TEST(CanonicalKeyExamples, NeighboursBeyondDoublePrecisionDiffer) {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  EXPECT_NE(encoded(KeyPart{big}), encoded(KeyPart{static_cast<double>(big)}));
  EXPECT_LT(encoded(KeyPart{INT64_MAX}), encoded(KeyPart{9223372036854775808.0}));
  EXPECT_GT(encoded(KeyPart{INT64_MAX}), encoded(KeyPart{INT64_MAX - 1}));
  EXPECT_EQ(encoded(KeyPart{INT64_MIN}), encoded(KeyPart{-9223372036854775808.0}));
  EXPECT_LT(encoded(KeyPart{INT64_MIN}), encoded(KeyPart{INT64_MIN + 1}));
}

TEST(CanonicalKeyExamples, KindsAreOrdered) {
  const KeyPart parts[] = {KeyPart{},
                           KeyPart{false},
                           KeyPart{true},
                           KeyPart{-kInfinity},
                           KeyPart{std::int64_t{-1}},
                           KeyPart{std::int64_t{0}},
                           KeyPart{0.5},
                           KeyPart{std::int64_t{1}},
                           KeyPart{kInfinity},
                           KeyPart{std::string()},
                           KeyPart{std::string("\0", 1)},
                           KeyPart{std::string("a")},
                           KeyPart{std::string("a\0", 2)},
                           KeyPart{std::string("a\x01")},
                           KeyPart{std::string("aa")},
                           KeyPart{KeyPart::Bytes{}},
                           KeyPart{KeyPart::Bytes{0xff}},
                           KeyPart{KeyPart::Array{}},
                           KeyPart{KeyPart::Array{KeyPart{}}},
                           KeyPart{KeyPart::Array{KeyPart{}, KeyPart{}}},
                           KeyPart{KeyPart::Array{KeyPart{true}}}};
  for (std::size_t i = 1; i < std::size(parts); ++i) {
    EXPECT_LT(encoded(parts[i - 1]), encoded(parts[i])) << parts[i - 1] << " and " << parts[i];
  }
}

KeyPart nested(std::size_t depth) {
  KeyPart part{std::int64_t{1}};
  for (std::size_t i = 0; i < depth; ++i) part = KeyPart{KeyPart::Array{std::move(part)}};
  return part;
}

TEST(CanonicalKeyExamples, RefusesWhatIsNoKey) {
  const auto refusal = [](const KeyPart& part) { return orderedBinary(part).error().text; };
  EXPECT_NE(refusal(KeyPart{std::nan("")}).find("NaN"), std::string::npos);
  EXPECT_NE(refusal(KeyPart{std::string("\xc0\x80")}).find("UTF-8"), std::string::npos);
  EXPECT_NE(refusal(KeyPart{KeyPart::Array{KeyPart{std::nan("")}}}).find("NaN"), std::string::npos);
  EXPECT_NE(refusal(nested(kMaxKeyDepth + 1)).find("deeper than 32"), std::string::npos);
  EXPECT_NE(refusal(nested(1'000)).find("deeper than 32"), std::string::npos);
  EXPECT_TRUE(orderedBinary(nested(kMaxKeyDepth)).has_value());
}

TEST(CanonicalKeyExamples, LengthIsLimitedToTheByte) {
  const std::size_t overhead = encoded(KeyPart{std::string()}).size();
  const std::string longest(kMaxKeyBytes - overhead, 'x');
  const auto fits = orderedBinary(KeyPart{longest});
  ASSERT_TRUE(fits.has_value());
  EXPECT_EQ(fits->size(), kMaxKeyBytes);
  EXPECT_TRUE(decodeOrderedBinary(*fits).has_value());
  const auto tooLong = orderedBinary(KeyPart{longest + "x"});
  ASSERT_FALSE(tooLong.has_value());
  EXPECT_NE(tooLong.error().text.find("1978"), std::string::npos) << tooLong.error().text;
  // NULs take two bytes each, and long lists of short parts add up.
  EXPECT_FALSE(orderedBinary(KeyPart{std::string(kMaxKeyBytes / 2 + 1, '\0')}).has_value());
  EXPECT_FALSE(orderedBinary(KeyPart{KeyPart::Array(kMaxKeyBytes, KeyPart{})}).has_value());
  EXPECT_FALSE(decodeOrderedBinary(std::string(kMaxKeyBytes + 1, '\x10')).has_value());
}

TEST(CanonicalKeyExamples, RefusesBadNames) {
  const KeyPart key{true};
  const auto refusal = [&](std::string_view database, std::string_view table) {
    const auto result = canonicalKey(database, table, key);
    return result ? std::string("accepted") : result.error().text;
  };
  using namespace std::string_view_literals;
  EXPECT_EQ(refusal("d", "t"), "accepted");
  EXPECT_EQ(refusal(std::string(kMaxNameBytes, 'd'), "t"), "accepted");
  EXPECT_NE(refusal("", "t").find("database name is empty"), std::string::npos);
  EXPECT_NE(refusal("d", "").find("table name is empty"), std::string::npos);
  EXPECT_NE(refusal("d\0d"sv, "t").find("NUL at byte 1"), std::string::npos);
  EXPECT_NE(refusal("d", "\0t"sv).find("NUL at byte 0"), std::string::npos);
  EXPECT_NE(refusal("d\xff", "t").find("database name is not valid UTF-8"), std::string::npos);
  EXPECT_NE(refusal("d", std::string(kMaxNameBytes + 1, 't')).find("256 bytes"), std::string::npos);
}

TEST(CanonicalKeyExamples, DecodingRefusesOtherSpellingsOfANumber) {
  const auto number = [](std::string_view payload) { return "\x30" + std::string(payload); };
  using namespace std::string_view_literals;
  // 1.0 with a distance, -0.0, NaN, the greatest double below 2^63 with a distance of 1,024, a short one.
  const std::string bad[] = {number("\xbf\xf0\0\0\0\0\0\0\0\x01"sv),
                             number("\x7f\xff\xff\xff\xff\xff\xff\xff\0\0"sv),
                             number("\xff\xf8\0\0\0\0\0\0\0\0"sv),
                             number("\xc3\xdf\xff\xff\xff\xff\xff\xff\x04\0"sv), number("\xbf\xf0\0\0"sv)};
  for (const std::string& bytes : bad) EXPECT_FALSE(decodeOrderedBinary(bytes).has_value());
  EXPECT_TRUE(decodeOrderedBinary(number("\xbf\xf0\0\0\0\0\0\0\0\0"sv)).has_value());
  EXPECT_TRUE(decodeOrderedBinary(number("\xc3\xdf\xff\xff\xff\xff\xff\xff\x03\xff"sv)).has_value());
}

TEST(CanonicalKeyExamples, DecodingNamesThePlace) {
  const auto trailing = decodeOrderedBinary("\x10\x10");
  ASSERT_FALSE(trailing.has_value());
  EXPECT_EQ(trailing.error().text, "encoded key, byte 1: 1 bytes follow after the end of the key");
  const auto unknown = decodeOrderedBinary("\x60\x77");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().text, "encoded key, byte 1: 0x77 begins no part of a key");
  EXPECT_FALSE(decodeOrderedBinary("").has_value());
  EXPECT_FALSE(decodeOrderedBinary("\x60").has_value());
  EXPECT_FALSE(decodeOrderedBinary(std::string(kMaxKeyDepth + 1, '\x60')).has_value());
  EXPECT_FALSE(decodeCanonicalKey("bank").has_value());
  EXPECT_FALSE(decodeCanonicalKey(std::string_view("bank\0accounts", 13)).has_value());
}

TEST(IsUtf8, KnowsWhatIsWellFormed) {
  const std::string good[] = {"",
                              "a",
                              "\xc2\x80",
                              "\xdf\xbf",
                              "\xe0\xa0\x80",
                              "\xed\x9f\xbf",
                              "\xee\x80\x80",
                              "\xef\xbf\xbf",
                              "\xf0\x90\x80\x80",
                              "\xf4\x8f\xbf\xbf"};
  const std::string bad[] = {"\x80",
                             "\xbf",
                             "\xc0\x80",
                             "\xc1\xbf",
                             "\xc2",
                             "\xc2z",
                             "\xe0\x9f\xbf",
                             "\xed\xa0\x80",
                             "\xed\xbf\xbf",
                             "\xef\xbf",
                             "\xf0\x8f\xbf\xbf",
                             "\xf4\x90\x80\x80",
                             "\xf5\x80\x80\x80",
                             "\xf8\x88\x80\x80\x80",
                             "\xff",
                             "a\xfe"};
  for (const std::string& text : good) EXPECT_TRUE(isUtf8(text)) << ::testing::PrintToString(text);
  for (const std::string& text : bad) EXPECT_FALSE(isUtf8(text)) << ::testing::PrintToString(text);
}

}  // namespace
}  // namespace holdfast::protocol
