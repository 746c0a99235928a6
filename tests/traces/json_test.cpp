// Observations as JSON: pinned lines, the way there and back for every kind, and what is said of bad lines.
#include "traces/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "observations/hash_chain.hpp"
#include "tests/traces/support.hpp"
#include "traces/json_cursor.hpp"
#include "traces/kinds.hpp"

namespace holdfast::traces {
namespace {

std::string lineOf(const obs::Stamped& stamped, const Names& names = testNames(), std::uint64_t n = 12,
                   std::uint64_t hash = 0x0123456789abcdef) {
  std::string out;
  ObservationWriter(names).append(out, n, stamped, hash);
  return out;
}

TEST(ObservationJson, HasPinnedLines) {
  EXPECT_EQ(
      lineOf({{1'234'567}, {0}, obs::Admitted{{3}, {0}, {1, 1, 7}, obs::Path::clean, false, {99}}}),
      R"({"n":12,"t":1234567,"node":"A","is":"Admitted","call":3,"key":"accounts/alice","token":[1,1,7],)"
      R"("path":"clean","hold":false,"deadline":99,"h":"0123456789abcdef"})");
  EXPECT_EQ(
      lineOf({{-5}, {2}, obs::Read{{}, {2}, 5, {{{4}, {}, {9}, {}}}, {{10, 0, -20, 0}}}}),
      R"({"n":12,"t":-5,"node":"n\"3","is":"Read","call":null,"key":"back\\slash\u0009tab","present":5,)"
      R"("writers":[4,null,9,null],"values":[10,0,-20,0],"h":"0123456789abcdef"})");
  EXPECT_EQ(lineOf({{0}, {}, obs::NodePaused{}}),
            R"({"n":12,"t":0,"node":null,"is":"NodePaused","h":"0123456789abcdef"})");
  EXPECT_EQ(lineOf({{0}, {7}, obs::Queued{{8}, {}}}),
            R"({"n":12,"t":0,"node":7,"is":"Queued","key":8,"requester":null,"h":"0123456789abcdef"})");
}

RC_GTEST_PROP(ObservationJsonProperty, EveryKindComesBackAsItWas, ()) {
  const Names names = testNames();
  const ObservationReader reader(names);
  const auto n = *rc::gen::arbitrary<std::uint64_t>();
  const auto hash = *rc::gen::arbitrary<std::uint64_t>();
  for (std::size_t kind = 0; kind < kKindCount; ++kind) {
    const obs::Stamped stamped = arbitraryObservation(kind);
    const std::string line = lineOf(stamped, names, n, hash);
    const auto back = reader.parse(line);
    if (!back) RC_FAIL(line + "\n" + back.error().what);
    RC_ASSERT(obs::sameObservation(back->stamped, stamped));
    RC_ASSERT(back->n == n);
    RC_ASSERT(back->hash == hash);
    RC_ASSERT(line.substr(back->numberColumn - 1).starts_with(std::to_string(n)));
    RC_ASSERT(line.substr(back->hashColumn - 1).starts_with("\"" + hexHash(hash)));
    const nlohmann::ordered_json general = nlohmann::ordered_json::parse(line);
    RC_ASSERT(general["is"] == std::string(kKindNames[kind]));
    RC_ASSERT(general.size() == 5 + boost::mp11::mp_with_index<kKindCount>(
                                        kind, [](auto k) { return obs::kFieldCountOf<ObservationOf<k>>; }));
  }
}

TEST(ObservationJson, MembersMayComeInAnyOrderAndWithSpace) {
  const auto line =
      ObservationReader(testNames())
          .parse(
              " { \"h\" : \"00000000000000ff\" , \"to\":\"\\u0042\",\t\"is\":\"LinkCut\",\"n\":1, "
              "\"node\":\"A\" ,\"t\":5 } \r");
  ASSERT_TRUE(line) << line.error().what;
  EXPECT_TRUE(obs::sameObservation(line->stamped, {{5}, {0}, obs::LinkCut{{1}}}));
  EXPECT_EQ(line->hash, 0xffU);
}

struct BadLine {
  std::string line;
  std::size_t column;
  std::string what;
  std::string expected;
};

void expectErrors(const std::vector<BadLine>& table) {
  const ObservationReader reader(testNames());
  for (const BadLine& bad : table) {
    SCOPED_TRACE(bad.line);
    const auto line = reader.parse(bad.line);
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error().column, bad.column);
    EXPECT_EQ(line.error().what, bad.what);
    EXPECT_EQ(line.error().expected, bad.expected);
  }
}

TEST(ObservationJson, LinesThatAreNotJsonAreRefusedWithTheColumn) {
  expectErrors({
      {"", 1, "not a JSON object: the end of the line", "'{'"},
      {"[1]", 1, "not a JSON object: an array", "'{'"},
      {"garbage", 1, "not a JSON object: 'g'", "'{'"},
      {std::string("\0\x01", 2), 1, "not a JSON object: byte 0x00", "'{'"},
      {"{", 2, "not JSON: the end of the line", "a member's name in quotes"},
      {"{\"n\":1", 7, "not JSON: the end of the line", "',' or '}'"},
      {"{\"n\":1,}", 8, "not JSON: '}'", "a member's name in quotes"},
      {"{\"n\" 1}", 6, "not JSON: a number", "':' after a member's name"},
      {"{\"n\":}", 6, "not JSON: '}'", "a value"},
      {"{\"n\":nul}", 6, "not JSON: 'n'", "a value"},
      {"{\"n\":01}", 6, "not JSON: a number with a leading zero", "no leading zero"},
      {"{\"n\":-}", 7, "not JSON: '}'", "a digit"},
      {"{\"n\":1.}", 8, "not JSON: '}'", "a digit"},
      {"{\"n\":1e+}", 9, "not JSON: '}'", "a digit"},
      {"{\"n\":1}x", 8, "'x' after the object", "the end of the line"},
      {"{\"n\":1,\"n\":1}", 8, "\"n\" stands here a second time", ""},
      {"{\"node\":\"A", 9, "not JSON: the string that begins here has no end", "a closing '\"'"},
      {"{\"node\":\"A\x01\"}", 11, "not JSON: byte 0x01 in a string", "control characters as \\u escapes"},
      {"{\"node\":\"\\x\"}", 10, "not JSON: no such escape", R"(one of \" \\ \/ \b \f \n \r \t \uXXXX)"},
      {"{\"node\":\"\\ud800\"}", 10, "not JSON: half of a surrogate pair",
       R"(\uD800-\uDBFF then \uDC00-\uDFFF)"},
      {"{\"n\":[1,2}", 10, "not JSON: '}'", "',' or ']'"},
      {"{\"n\":" + std::string(100'000, '[') + "}", 69, "too deeply nested", "at most 64 levels"},
  });
}

TEST(ObservationJson, WrongMembersAreRefusedWithTheColumn) {
  const std::string start = R"({"n":1,"t":2,"node":"A",)";  // 24 bytes
  const std::string end = R"(,"h":"0123456789abcdef"})";
  const std::string admitted = R"("is":"Admitted","call":3,"key":"accounts/alice","token":[1,1,7],)"
                               R"("path":"clean","hold":true,"deadline":9)";
  ASSERT_TRUE(ObservationReader(testNames()).parse(start + admitted + end));
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string changed = admitted;
    changed.replace(changed.find(from), from.size(), to);
    return start + changed + end;
  };
  expectErrors({
      {"{}", 2, "\"n\" is missing", ""},
      {R"({"n":"1"})", 6, "\"n\" is a string", "an integer from 0 to 18446744073709551615"},
      {R"({"n":-1})", 6, "\"n\" is -1", "an integer from 0 to 18446744073709551615"},
      {R"({"n":1,"t":1.5})", 12, "\"t\" is 1.5",
       "an integer from -9223372036854775808 to 9223372036854775807"},
      {R"({"n":1,"t":9223372036854775808})", 12, "\"t\" is 9223372036854775808",
       "an integer from -9223372036854775808 to 9223372036854775807"},
      {R"({"n":1,"t":)" + std::string(50, '9') + "}", 12, "\"t\" is " + std::string(40, '9') + "...",
       "an integer from -9223372036854775808 to 9223372036854775807"},
      {R"({"n":1,"t":2,"node":"Q"})", 21, "\"node\" names an unknown node \"Q\"",
       "one of \"A\", \"B\", \"n\"3\""},
      {R"({"n":1,"t":2,"node":true})", 21, "\"node\" is true", "a node's name or null"},
      {R"({"n":1,"t":2,"node":1})", 21, "\"node\" is the number 1", "a node's name or null"},
      {R"({"n":1,"t":2,"node":65535})", 21, "\"node\" is the number 65535", "a node's name or null"},
      {R"({"n":1,"t":2,"node":65536})", 21, "\"node\" is 65536", "a node's name or null"},
      {start + R"("is":"Admited"})", 30, "unknown kind of observation \"Admited\"",
       "a kind of docs/trace-format.md, perhaps \"Admitted\""},
      {start + R"("is":7})", 30, "\"is\" is a number", "a string"},
      {start + R"("is":"NodePaused"})", 42, "\"h\" is missing", ""},
      {start + R"("is":"NodePaused","h":"0123456789ABCDEF"})", 47, "\"h\" is \"0123456789ABCDEF\"",
       "16 lower-case hexadecimal digits"},
      {start + R"("is":"NodePaused","extra":0)" + end, 43, "NodePaused has no field \"extra\"", "no fields"},
      {with("\"hold\"", "\"held\""), 151, "\"hold\" is missing", ""},
      {with("\"deadline\":9", "\"deadline\":9,\"x\":[]"), 129, "Admitted has no field \"x\"",
       "call, key, token, path, hold, deadline"},
      {with(":3,", ":0,"), 48, "\"call\" is 0", "an integer from 1 to 4294967295, or null"},
      {with(":3,", ":4294967296,"), 48, "\"call\" is 4294967296", "an integer from 1 to 4294967295, or null"},
      {with("accounts/alice", "accounts/bob"), 56, "\"key\" names an unknown key \"accounts/bob\"",
       "one of \"accounts/alice\", \"back\\slash\\x09tab\", \"schl\\xc3\\xbcssel\""},
      {with("[1,1,7]", "[1,1]"), 81, "\"token\" has 2 elements",
       "an array of 3: membership, incarnation, counter"},
      {with("[1,1,7]", "[]"), 81, "\"token\" has 0 elements",
       "an array of 3: membership, incarnation, counter"},
      {with("[1,1,7]", "[1,1,7,8]"), 81, "\"token\" has more than 3 elements",
       "an array of 3: membership, incarnation, counter"},
      {with("[1,1,7]", "[1,null,7]"), 84, "\"token\" is null", "an integer from 0 to 4294967295"},
      {with("[1,1,7]", "{}"), 81, "\"token\" is an object",
       "an array of 3: membership, incarnation, counter"},
      {with("clean", "dirty"), 96, "\"path\" is \"dirty\"",
       "one of \"cached\", \"virgin\", \"clean\", \"recovery\""},
      {with("\"clean\"", "2"), 96, "\"path\" is a number",
       "one of \"cached\", \"virgin\", \"clean\", \"recovery\""},
      {with("true", "1"), 111, "\"hold\" is a number", "true or false"},
      {with("true", "null"), 111, "\"hold\" is null", "true or false"},
  });
}

TEST(ObservationJson, EveryProperPrefixIsRefused) {
  const ObservationReader reader(testNames());
  for (const obs::Stamped& stamped : sampleRun()) {
    const std::string line = lineOf(stamped);
    for (std::size_t length = 0; length < line.size(); ++length) {
      EXPECT_FALSE(reader.parse(line.substr(0, length))) << line.substr(0, length);
    }
    EXPECT_TRUE(reader.parse(line));
  }
}

RC_GTEST_PROP(ObservationJsonProperty, NoDamageIsTakenForJson, ()) {
  // Whatever happens to a line, the reader must survive it, point into it, and accept nothing that the
  // general library does not.
  const ObservationReader reader(testNames());
  std::string line = lineOf(arbitraryObservation());
  const int changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, line.size());
    const char byte = *rc::gen::oneOf(
        rc::gen::arbitrary<char>(), rc::gen::elementOf(std::string("{}[],:\"\\0123456789-+.eEu truefalsn")));
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        line[at] = byte;
        break;
      case 1:
        line.insert(at, 1, byte);
        break;
      default:
        line.erase(at, 1);
        break;
    }
  }
  const auto read = reader.parse(line);
  if (read) {
    RC_TAG("still good");
    RC_ASSERT(nlohmann::json::accept(line));
  } else {
    RC_ASSERT(!read.error().what.empty());
    RC_ASSERT(read.error().column >= 1U);
    RC_ASSERT(read.error().column <= line.size() + 1);
  }
}

/// Any JSON value, `levels` deep at most.
nlohmann::json arbitraryJson(int levels) {
  const std::string letters = "ab\"\\/\x01\x7f\xc3\xa9";
  switch (*rc::gen::inRange(0, levels > 0 ? 7 : 5)) {
    case 0:
      return nullptr;
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3:
      return *rc::gen::element(0.5, -1e300, 2.5e-7, 1e21);
    case 4:
      return letters.substr(0, *rc::gen::inRange<std::size_t>(0, letters.size() - 1));
    case 5: {
      nlohmann::json list = nlohmann::json::array();
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) list.push_back(arbitraryJson(levels - 1));
      return list;
    }
    default: {
      nlohmann::json object = nlohmann::json::object();
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
        object[letters.substr(0, static_cast<std::size_t>(i))] = arbitraryJson(levels - 1);
      }
      return object;
    }
  }
}

/// Whether the general library finds the grammar kept; nothing when it stops at a number that no double can
/// hold, for then it has not looked at what follows.
std::optional<bool> isJson(const std::string& text) {
  try {
    return !nlohmann::json::parse(text).is_discarded();
  } catch (const nlohmann::json::out_of_range&) {
    return std::nullopt;
  } catch (const nlohmann::json::parse_error&) {
    return false;
  }
}

RC_GTEST_PROP(JsonCursorProperty, AgreesWithTheGeneralLibrary, ()) {
  nlohmann::json value = nlohmann::json::object();
  value["list"] = {arbitraryJson(3), arbitraryJson(3)};
  value["object"] = arbitraryJson(4);
  std::string text = value.dump(*rc::gen::element(-1, 0, 2));
  RC_ASSERT(splitObject(text));
  const int changes = *rc::gen::inRange(0, 3);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const char byte = *rc::gen::elementOf(std::string("{}[],:\"\\0123456789-+.eEunrtbf truefalsn\x01\n"));
    if (*rc::gen::arbitrary<bool>()) {
      text.insert(at, 1, byte);
    } else {
      text[at] = byte;
    }
  }
  // Two differences are meant: a second member of one name is refused here, and text that is not UTF-8 there.
  const auto members = splitObject(text);
  const bool accepted = members || members.error().what.ends_with("a second time");
  const std::optional<bool> acceptedThere = isJson(text);
  RC_TAG(acceptedThere ? (*acceptedThere ? "valid" : "invalid") : "beyond double");
  if (acceptedThere == true) RC_ASSERT(accepted);
  std::string ascii = text;
  for (char& c : ascii) c = static_cast<unsigned char>(c) < 0x80 ? c : 'x';
  if (members) RC_ASSERT(isJson(ascii) != false);
}

TEST(JsonCursor, ResolvesEscapes) {
  const auto decoded = [](std::string_view text) {
    JsonCursor cursor(text);
    std::string out;
    EXPECT_TRUE(cursor.readString(out)) << text << ": " << cursor.error().what;
    EXPECT_TRUE(cursor.atEnd());
    return out;
  };
  for (const char* const text :
       {R"("plain")", R"("\"\\\/\b\f\n\r\t")", R"("\u0000\u007f\u0080\u07ff\u0800\uffff")",
        R"("\ud83d\ude00\uD83D\uDE00")", R"("")"}) {
    EXPECT_EQ(decoded(text), nlohmann::json::parse(text).get<std::string>()) << text;
  }
}

TEST(JsonText, HashesAreSixteenDigits) {
  EXPECT_EQ(hexHash(0), "0000000000000000");
  EXPECT_EQ(hexHash(0xfedcba9876543210), "fedcba9876543210");
  std::uint64_t hash = 5;
  EXPECT_TRUE(hashFromHex("fedcba9876543210", hash));
  EXPECT_EQ(hash, 0xfedcba9876543210U);
  for (const char* const bad :
       {"", "0", "FEDCBA9876543210", "fedcba987654321", "fedcba98765432100", "0x00000000000000"}) {
    EXPECT_FALSE(hashFromHex(bad, hash)) << bad;
  }
  EXPECT_EQ(hash, 0xfedcba9876543210U);
}

TEST(JsonText, QuotedTextIsJson) {
  for (const char* const text : {"", "plain", "\"\\/", "\x01\x1f\n\t", "schl\xc3\xbcssel"}) {
    EXPECT_EQ(nlohmann::json::parse(quoted(text)).get<std::string>(), text);
  }
}

TEST(JsonText, ShownTextIsShortAndPrintable) {
  EXPECT_EQ(shown("plain"), "\"plain\"");
  EXPECT_EQ(shown(std::string("\0\xff", 2)), "\"\\x00\\xff\"");
  EXPECT_EQ(shown(std::string(1000, 'a')), "\"" + std::string(60, 'a') + "...\"");
}

}  // namespace
}  // namespace holdfast::traces
