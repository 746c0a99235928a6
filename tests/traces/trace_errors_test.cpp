// What is said of bad traces: each with the line and column of the first thing wrong and what would be right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <streambuf>

#include "tests/traces/support.hpp"
#include "traces/json.hpp"
#include "traces/kinds.hpp"
#include "traces/trace.hpp"

namespace holdfast::traces {
namespace {

using nlohmann::json;

/// The lines of a good trace of three events: header, plan, 3 events, verdict.
std::vector<std::string> goodLines() {
  Header header;
  header.tool = "0.1.0";
  header.compiler = "g++ 12.2.0";
  header.scenario = "S-01";
  header.seed = 42;
  header.options = {{"nodes", 3}};
  header.names = {{"A", "B"}, {"k"}};
  std::ostringstream out;
  auto writer = TraceWriter::to(out, header, json::array());
  if (!writer) throw std::runtime_error(writer.error().what);
  writer->on({{1}, {0}, obs::NodeStarted{1}});
  writer->on({{2}, {1}, obs::NodePaused{}});
  writer->on({{3}, {0}, obs::Unlocked{{5}, {0}}});
  if (!writer->finish({{"held", true}}, {9})) throw std::runtime_error("finish");
  std::vector<std::string> lines;
  std::istringstream in(out.str());
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// A good trace but for one replacement in one line (from 1).
std::string goodWith(std::size_t line, std::string_view from, std::string_view to) {
  std::vector<std::string> lines = goodLines();
  const std::size_t at = lines.at(line - 1).find(from);
  if (at == std::string::npos) throw std::runtime_error("no " + std::string(from));
  lines[line - 1].replace(at, from.size(), to);
  return joined(lines);
}

std::string goodWithLine(std::size_t line, std::string text) {
  std::vector<std::string> lines = goodLines();
  lines.at(line - 1) = std::move(text);
  return joined(lines);
}

std::string goodWithoutLine(std::size_t line) {
  std::vector<std::string> lines = goodLines();
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(line) - 1);
  return joined(lines);
}

std::string errorOf(const std::string& text) {
  std::istringstream in(text);
  const auto trace = readTrace(in, "t");
  return trace ? "" : trace.error().text();
}

struct BadTrace {
  const char* name;
  std::string text;
  std::string error;
};

void expectErrors(const std::vector<BadTrace>& table) {
  for (const BadTrace& bad : table) EXPECT_EQ(errorOf(bad.text), bad.error) << bad.name;
}

TEST(TraceErrors, TheGoodTraceIsGood) {
  EXPECT_EQ(errorOf(joined(goodLines())), "");
  ASSERT_EQ(goodLines().size(), 6U);
  EXPECT_EQ(goodLines()[3], R"({"n":2,"t":2,"node":"B","is":"NodePaused","h":"198ef62e90508707"})");
}

TEST(TraceErrors, OfWhatIsNoTrace) {
  const std::string header = R"(; expected {"holdfast-trace":1, ...)";
  expectErrors({
      {"empty", "", "t:1:1: the file is empty; expected a trace"},
      {"text", "hello\n", "t:1:1: not a trace: 'h'" + header},
      {"binary", std::string("\x7f\x45\x4c\x46\0\0", 6), "t:1:1: not a trace: byte 0x7f" + header},
      {"zeros", std::string(100'000, '\0'), "t:1:1: not a trace: byte 0x00" + header},
      {"blank", "\n\n", "t:1:1: not a trace: byte 0x0a" + header},
      {"other JSON", "{\"a\":1}\n", "t:1:1: not a trace: the first line has no \"holdfast-trace\"" + header},
      {"no header", goodWithoutLine(1),
       "t:1:1: not a trace: the first line has no \"holdfast-trace\"" + header},
      {"not JSON", "{hello\n", "t:1:2: not JSON: 'h'; expected a member's name in quotes"},
      {"cut", "{\"holdfast-trace\":1",
       "t:1:20: truncated: the file ends inside this line; expected the rest of the line"},
  });
}

TEST(TraceErrors, OfTheHeader) {
  const std::string names = "; expected different names of 1 to 1024 bytes of UTF-8";
  expectErrors({
      {"newer", goodWith(1, ":1,", ":2,"),
       "t:1:19: version 2 of the trace format is newer than this tool; expected at most version 1"},
      {"newest", goodWith(1, ":1,", ":99999999999999999999,"),
       "t:1:19: \"holdfast-trace\" is 99999999999999999999; expected an integer from 1 to "
       "18446744073709551615"},
      {"zero", goodWith(1, ":1,", ":0,"),
       "t:1:19: \"holdfast-trace\" is 0; expected an integer from 1 to 18446744073709551615"},
      {"text", goodWith(1, ":1,", ":\"1\","),
       "t:1:19: \"holdfast-trace\" is a string; expected an integer from 1 to 18446744073709551615"},
      {"fraction", goodWith(1, ":1,", ":1.0,"),
       "t:1:19: \"holdfast-trace\" is 1.0; expected an integer from 1 to 18446744073709551615"},
      {"newer and otherwise unknown", "{\"holdfast-trace\":7,\"new\":[]}\n",
       "t:1:19: version 7 of the trace format is newer than this tool; expected at most version 1"},
      {"no tool", goodWith(1, "\"tool\":\"0.1.0\",", ""), "t:1:220: \"tool\" is missing"},
      {"tool", goodWith(1, "\"0.1.0\"", "1"), "t:1:28: \"tool\" is a number; expected a string"},
      {"seed number", goodWith(1, "\"42\"", "42"), "t:1:117: \"seed\" is a number; expected a string"},
      {"seed sign", goodWith(1, "\"42\"", "\"-42\""),
       "t:1:117: \"seed\" is \"-42\"; expected a decimal number from 0 to 18446744073709551615 in quotes"},
      {"seed size", goodWith(1, "\"42\"", "\"18446744073709551616\""),
       "t:1:117: \"seed\" is \"18446744073709551616\"; expected a decimal number from 0 to "
       "18446744073709551615 "
       "in quotes"},
      {"seed empty", goodWith(1, "\"42\"", "\"\""),
       "t:1:117: \"seed\" is \"\"; expected a decimal number from 0 to 18446744073709551615 in quotes"},
      {"options", goodWith(1, "{\"nodes\":3}", "[]"), "t:1:132: \"options\" is an array; expected an object"},
      {"option size", goodWith(1, ":3}", ":1e999}"),
       "t:1:132: \"options\" holds a number out of range; expected finite numbers"},
      {"option text", goodWith(1, ":3}", ":\"\xff\"}"),
       "t:1:142: not JSON: text that is not UTF-8; expected UTF-8"},
      {"options changed", goodWith(1, ":3}", ":4}"),
       "t:1:217: the header was changed: \"optionHash\" does not fit scenario, options and rules; expected "
       "\"7479d3158a826b45\""},
      {"rules", goodWith(1, "{\"off\":[]}", "[]"), "t:1:152: \"rules\" is an array; expected an object"},
      {"rule", goodWith(1, "\"off\":[]", "\"off\":[1]"),
       "t:1:160: \"off\" holds a number; expected strings only"},
      {"more rules", goodWith(1, "\"off\":[]", "\"off\":[],\"on\":[]"),
       "t:1:162: unknown member \"on\"; expected only \"off\""},
      {"no nodes", goodWith(1, "\"nodes\":[\"A\",\"B\"],", ""), "t:1:184: \"nodes\" is missing"},
      {"nodes", goodWith(1, "[\"A\",\"B\"]", "{}"),
       "t:1:180: \"nodes\" is an object; expected an array of strings"},
      {"same nodes", goodWith(1, "[\"A\",\"B\"]", "[\"A\",\"A\"]"),
       "t:1:185: name 1 of \"nodes\" is \"A\" again" + names},
      {"empty key", goodWith(1, "[\"k\"]", "[\"\"]"), "t:1:198: name 0 of \"keys\" is empty" + names},
      {"long key", goodWith(1, "[\"k\"]", "[\"" + std::string(2000, 'k') + "\"]"),
       "t:1:198: name 0 of \"keys\" has 2000 bytes" + names},
      {"hash", goodWith(1, "\"optionHash\":\"", "\"optionHash\":\"0x"),
       "t:1:217: \"optionHash\" is \"0x6f4948e636228760\"; expected 16 lower-case hexadecimal digits"},
      {"unknown", goodWith(1, "\"tool\"", "\"tools\":1,\"tool\""),
       "t:1:21: unknown member \"tools\"; expected only \"holdfast-trace\", \"tool\", \"compiler\", "
       "\"vocabulary\", "
       "\"scenario\", \"seed\", \"options\", \"rules\", \"names\", \"optionHash\""},
      {"twice", goodWith(1, "\"tool\":", "\"tool\":\"\",\"tool\":"),
       "t:1:31: \"tool\" stands here a second time"},
      {"deep", goodWith(1, ":3}", ":" + std::string(1'000'000, '[') + "}"),
       "t:1:203: too deeply nested; expected at most 64 levels"},
  });
}

TEST(TraceErrors, OfTooManyNodes) {
  std::string many;
  for (int i = 0; i < 70'000; ++i) many += "\"n" + std::to_string(i) + "\",";
  EXPECT_EQ(errorOf(goodWith(1, "[\"A\",", "[" + many)),
            "t:1:180: \"nodes\" has 70001 names; expected at most 65535");
}

TEST(TraceErrors, OfThePlan) {
  const std::string header = goodLines()[0] + "\n";
  expectErrors({
      {"none", header, "t:2:1: truncated: the trace ends after its header; expected {\"plan\":...}"},
      {"missing", goodWithoutLine(2), "t:2:76: \"plan\" is missing"},
      {"a number", goodWithLine(2, "{\"plan\":5}"),
       "t:2:9: \"plan\" is a number; expected an array or object"},
      {"more", goodWithLine(2, "{\"plan\":[],\"x\":1}"),
       "t:2:12: unknown member \"x\"; expected only \"plan\""},
      {"not JSON", goodWithLine(2, "{\"plan\":[1 2]}"), "t:2:12: not JSON: a number; expected ',' or ']'"},
      {"blank", goodWithLine(2, ""), "t:2:1: not a JSON object: the end of the line; expected '{'"},
      {"cut", header + "{\"plan\":[1,",
       "t:2:12: truncated: the file ends inside this line; expected the rest of the line"},
  });
}

TEST(TraceErrors, OfTheEvents) {
  const std::vector<std::string> good = goodLines();
  const std::string upTo4 = good[0] + "\n" + good[1] + "\n" + good[2] + "\n" + good[3] + "\n";
  expectErrors({
      {"no last line", upTo4,
       "t:5:1: truncated: the trace ends after event 2; expected more events or the last line, "
       "{\"verdict\":...}"},
      {"cut", upTo4 + good[4].substr(0, 30),
       "t:5:31: truncated: the file ends inside this line; expected the rest of the line"},
      {"binary", upTo4 + "\x01\x02\n", "t:5:1: not a JSON object: byte 0x01; expected '{'"},
      {"unknown kind", goodWith(4, "NodePaused", "NodePause"),
       "t:4:30: unknown kind of observation \"NodePause\"; expected a kind of docs/trace-format.md, perhaps "
       "\"NodePaused\""},
      {"wrong type", goodWith(5, "\"call\":5", "\"call\":\"5\""),
       "t:5:48: \"call\" is a string; expected an integer from 1 to 4294967295, or null"},
      {"unknown node", goodWith(4, "\"B\"", "\"C\""),
       "t:4:21: \"node\" names an unknown node \"C\"; expected one of \"A\", \"B\""},
      {"absurd", goodWith(5, "\"t\":3", "\"t\":1" + std::string(100, '0')),
       "t:5:12: \"t\" is 1000000000000000000000000000000000000000...; expected an integer from "
       "-9223372036854775808 to 9223372036854775807"},
      {"changed", goodWith(4, "\"t\":2", "\"t\":4"),
       "t:4:47: the hash chain breaks at event 2: this line was changed, or belongs to another trace; "
       "expected "
       "\"50ba2421978ab596\""},
      {"removed", goodWithoutLine(4),
       "t:4:6: event 3 in the place of event 2; expected events numbered 1, 2, 3 ..."},
      {"plan again", goodWithLine(4, good[1]), "t:4:11: \"n\" is missing"},
      {"blank", goodWithLine(4, ""), "t:4:1: not a JSON object: the end of the line; expected '{'"},
  });
}

TEST(TraceErrors, OfEventsOfAnotherVocabularySayWhoWroteThem) {
  const std::string known = hexHash(vocabularyHash());
  std::string text = goodWith(4, "NodePaused", "NodeNapped");
  text.replace(text.find(known), known.size(), "0000000000000001");
  EXPECT_EQ(errorOf(text),
            "t:4:30: unknown kind of observation \"NodeNapped\" (version 0.1.0 wrote this trace and its "
            "observations "
            "are not those of " +
                std::string(toolVersion()) +
                ", this one); expected a kind of docs/trace-format.md, perhaps \"NodePaused\"");
  // A trace that happens to need nothing of what differs is good.
  text = joined(goodLines());
  text.replace(text.find(known), known.size(), "0000000000000001");
  EXPECT_EQ(errorOf(text), "");
}

TEST(TraceErrors, OfTheLastLine) {
  const std::string good = joined(goodLines());
  expectErrors({
      {"too few", goodWith(6, "\"events\":3", "\"events\":2"),
       "t:6:35: \"events\" is 2, but 3 are in the trace; expected 3"},
      {"too many", goodWithoutLine(5), "t:5:35: \"events\" is 3, but 2 are in the trace; expected 2"},
      {"absurd", goodWith(6, "\"events\":3", "\"events\":1e30"),
       "t:6:35: \"events\" is 1e30; expected an integer from 0 to 18446744073709551615"},
      {"hash", goodWith(6, "\"hash\":\"", "\"hash\":\"0000000000000000\",\"old\":\""),
       "t:6:79: unknown member \"old\"; expected only \"verdict\", \"events\", \"simulatedNs\", \"hash\""},
      {"verdict", goodWith(6, "{\"held\":true}", "true"), "t:6:12: \"verdict\" is true; expected an object"},
      {"time", goodWith(6, "\"simulatedNs\":9", "\"simulatedNs\":-9"),
       "t:6:51: \"simulatedNs\" is -9; expected an integer from 0 to 9223372036854775807"},
      {"text behind", good + "x", "t:7:1: text after the last line; expected the end of the file"},
      {"blank behind", good + "\n", "t:7:1: text after the last line; expected the end of the file"},
      {"two traces", good + good, "t:7:1: text after the last line; expected the end of the file"},
  });
}

TEST(TraceErrors, OfTheHashInTheLastLine) {
  std::string line = goodLines()[5];
  line[line.size() - 3] = line[line.size() - 3] == '0' ? '1' : '0';
  const std::string error = errorOf(goodWithLine(6, line));
  EXPECT_EQ(error.substr(0, 57), "t:6:60: \"hash\" is not that of the events before; expected");
}

TEST(TraceErrors, OnlyTheLastLineFeedMayBeMissing) {
  const std::string good = joined(goodLines());
  for (std::size_t length = 0; length + 1 < good.size(); ++length) {
    const std::string error = errorOf(good.substr(0, length));
    ASSERT_NE(error, "") << length;
    if (length > 0) {
      ASSERT_NE(error.find("truncated"), std::string::npos) << length << ": " << error;
    }
  }
  EXPECT_EQ(errorOf(good.substr(0, good.size() - 1)), "");
}

TEST(TraceErrors, NoChangedByteOfAnEventIsOverlooked) {
  const std::vector<std::string> lines = goodLines();
  const std::string good = joined(lines);
  const std::size_t begin = lines[0].size() + lines[1].size() + 2;
  const std::size_t end = good.size() - lines[5].size() - 1;
  for (std::size_t at = begin; at < end; ++at) {
    for (const int flip : {0x01, 0x20, 0x80}) {
      std::string changed = good;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      EXPECT_NE(errorOf(changed), "") << "byte " << at << " with " << flip;
    }
  }
}

/// A stream of one letter behind a '{', without an end.
class EndlessBuffer : public std::streambuf {
 protected:
  int_type underflow() override {
    chunk_.assign(65536, 'a');
    if (first_) chunk_[0] = '{';
    first_ = false;
    setg(chunk_.data(), chunk_.data(), chunk_.data() + chunk_.size());
    return traits_type::to_int_type(chunk_[0]);
  }

 private:
  std::string chunk_;
  bool first_ = true;
};

TEST(TraceErrors, OfALineWithoutEnd) {
  EndlessBuffer buffer;
  std::istream in(&buffer);
  const auto reader = TraceReader::from(in, "t");
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().text(),
            "t:1:16777217: the line is too long; expected at most 16777216 bytes a line");
}

/// A stream that breaks after its text.
class BreakingBuffer : public std::stringbuf {
 public:
  using std::stringbuf::stringbuf;

 protected:
  int_type underflow() override {
    const int_type next = std::stringbuf::underflow();
    if (next == traits_type::eof()) throw std::runtime_error("broken");
    return next;
  }
};

TEST(TraceErrors, OfAStreamThatBreaks) {
  BreakingBuffer buffer(goodLines()[0] + "\n", std::ios::in);
  std::istream in(&buffer);
  const auto reader = TraceReader::from(in, "t");
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().text(), "t:1:1: cannot be read: the stream has failed");
}

TEST(TraceErrors, OfFilesThatCannotBeRead) {
  const TemporaryDirectory directory;
  const auto textOf = [](const std::filesystem::path& path) {
    const auto trace = readTrace(path);
    return trace ? "" : trace.error().text();
  };
  EXPECT_EQ(
      textOf(directory / "none"),
      (directory / "none").string() + ": cannot be opened: No such file or directory; expected a trace file");
  EXPECT_EQ(textOf(directory / ""), (directory / "").string() + ": is a directory; expected a trace file");
  EXPECT_EQ(textOf(""), ": cannot be opened: No such file or directory; expected a trace file");
  writeFile(directory / "empty", "");
  EXPECT_EQ(textOf(directory / "empty"),
            (directory / "empty").string() + ":1:1: the file is empty; expected a trace");
  writeFile(directory / "good", joined(goodLines()));
  EXPECT_EQ(textOf(directory / "good"), "");
  std::filesystem::create_symlink(directory / "loop", directory / "loop");
  EXPECT_EQ(textOf(directory / "loop"),
            (directory / "loop").string() +
                ": cannot be opened: Too many levels of symbolic links; expected a "
                "trace file");
}

RC_GTEST_PROP(TraceErrorsProperty, NoDamageCrashesTheReader, ()) {
  std::string text = joined(goodLines());
  for (int i = *rc::gen::inRange(1, 6); i > 0; --i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto length = *rc::gen::inRange<std::size_t>(1, 40);
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        text[at] = *rc::gen::arbitrary<char>();
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(*rc::gen::inRange<std::size_t>(0, text.size()), length));
        break;
      default:
        text.insert(at, *rc::gen::arbitrary<std::string>());
        break;
    }
    if (text.empty()) break;
  }
  std::istringstream in(text);
  const auto trace = readTrace(in, "t");
  if (trace) {
    RC_TAG("still good");
    return;
  }
  const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  RC_ASSERT(trace.error().line <= lines);
  RC_ASSERT(!trace.error().what.empty());
}

}  // namespace
}  // namespace holdfast::traces
