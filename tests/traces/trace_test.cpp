// Traces as files: pinned form, the way there and back, and never a final name on half a trace.
#include "traces/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <streambuf>

#include "observations/hash_chain.hpp"
#include "tests/traces/support.hpp"
#include "traces/json.hpp"
#include "traces/kinds.hpp"

namespace holdfast::traces {
namespace {

using nlohmann::json;

Header testHeader() {
  Header header;
  header.tool = "0.1.0";
  header.compiler = "g++ 12.2.0";
  header.scenario = "S-01";
  header.seed = 18446744073709551615U;
  header.options = {{"nodes", 5}, {"loss", 1000}};
  header.rulesOff = {"DG3_WaitOut"};
  header.names = testNames();
  return header;
}

const json kPlan = {{{"at", 10}, {"do", "lock"}}};
const json kVerdict = {{"held", true}};

std::string sampleTrace() {
  std::ostringstream out;
  auto writer = TraceWriter::to(out, testHeader(), kPlan);
  if (!writer) throw std::runtime_error(writer.error().what);
  for (const obs::Stamped& stamped : sampleRun()) writer->on(stamped);
  if (const auto done = writer->finish(kVerdict, {4'000'000}); !done)
    throw std::runtime_error(done.error().what);
  return out.str();
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Trace, HasAPinnedForm) {
  const std::vector<std::string> lines = linesOf(sampleTrace());
  ASSERT_EQ(lines.size(), 2 + sampleRun().size() + 1);
  EXPECT_EQ(
      lines[0],
      R"({"holdfast-trace":1,"tool":"0.1.0","compiler":"g++ 12.2.0","vocabulary":")" +
          hexHash(vocabularyHash()) +
          R"(","scenario":"S-01",)"
          R"("seed":"18446744073709551615","options":{"loss":1000,"nodes":5},)"
          R"("rules":{"off":["DG3_WaitOut"]},)"
          R"("names":{"nodes":["A","B","n\"3"],"keys":["accounts/alice","schlüssel","back\\slash\ttab"]},)"
          R"("optionHash":"9fc90718079cbdc8"})");
  EXPECT_EQ(lines[1], R"({"plan":[{"at":10,"do":"lock"}]})");
  EXPECT_EQ(lines[2], R"({"n":1,"t":0,"node":"A","is":"NodeStarted","start":1,"h":"1845919ed2f7bd10"})");
  EXPECT_EQ(lines.back(),
            R"({"verdict":{"held":true},"events":14,"simulatedNs":4000000,"hash":"95db7ee194bb67eb"})");
}

TEST(Trace, ComesBackAsItWas) {
  std::istringstream in(sampleTrace());
  const auto trace = readTrace(in, "sample");
  ASSERT_TRUE(trace) << trace.error().text();
  const Header expected = testHeader();
  EXPECT_EQ(trace->header.tool, expected.tool);
  EXPECT_EQ(trace->header.compiler, expected.compiler);
  EXPECT_EQ(trace->header.scenario, expected.scenario);
  EXPECT_EQ(trace->header.seed, expected.seed);
  EXPECT_EQ(trace->header.options, expected.options);
  EXPECT_EQ(trace->header.rulesOff, expected.rulesOff);
  EXPECT_EQ(trace->header.names, expected.names);
  EXPECT_EQ(trace->header.optionHash, optionHashOf(expected));
  EXPECT_EQ(trace->plan, kPlan);
  EXPECT_EQ(trace->ending.verdict, kVerdict);
  EXPECT_EQ(trace->ending.simulatedNs, 4'000'000);
  EXPECT_EQ(trace->ending.events, sampleRun().size());
  const std::vector<obs::Stamped> run = sampleRun();
  ASSERT_EQ(trace->observations.size(), run.size());
  for (std::size_t i = 0; i < run.size(); ++i)
    EXPECT_TRUE(obs::sameObservation(trace->observations[i], run[i]));
}

TEST(Trace, AnEmptyRunIsATraceToo) {
  std::ostringstream out;
  auto writer = TraceWriter::to(out, Header{}, json::object());
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->finish(json::object(), {0}));
  std::istringstream in(out.str());
  const auto trace = readTrace(in, "empty run");
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_TRUE(trace->observations.empty());
  EXPECT_EQ(trace->ending.hash, 0U);
  EXPECT_EQ(trace->header.tool, toolVersion());
  EXPECT_EQ(trace->header.compiler, compilerName());
}

RC_GTEST_PROP(TraceProperty, AnyRunComesBack, ()) {
  Header header = testHeader();
  header.seed = *rc::gen::arbitrary<std::uint64_t>();
  std::ostringstream out;
  auto writer = TraceWriter::to(out, header, kPlan);
  RC_ASSERT(writer.has_value());
  std::vector<obs::Stamped> run;
  for (int i = *rc::gen::inRange(0, 40); i > 0; --i) {
    run.push_back(arbitraryObservation());
    writer->on(run.back());
  }
  RC_ASSERT(writer->finish(kVerdict, {1}).has_value());
  std::istringstream in(out.str());
  const auto trace = readTrace(in, "any run");
  if (!trace) RC_FAIL(trace.error().text());
  RC_ASSERT(trace->header.seed == header.seed);
  RC_ASSERT(trace->ending.hash == writer->hash());
  RC_ASSERT(trace->observations.size() == run.size());
  for (std::size_t i = 0; i < run.size(); ++i)
    RC_ASSERT(obs::sameObservation(trace->observations[i], run[i]));
}

TEST(Trace, LongLinesAndManyEventsCrossEveryBuffer) {
  const json plan = {{"text", std::string(3'000'000, 'p')}};
  std::ostringstream out;
  auto writer = TraceWriter::to(out, testHeader(), plan);
  ASSERT_TRUE(writer);
  constexpr int kEvents = 20'000;
  for (int i = 0; i < kEvents; ++i) {
    writer->on({{i},
                {0},
                obs::MessageSent{static_cast<std::uint64_t>(i) << 20, {1}, obs::MessageKind::logFrame, {}}});
  }
  ASSERT_TRUE(writer->finish(kVerdict, {kEvents}));
  std::istringstream in(out.str());
  auto reader = TraceReader::from(in, "long");
  ASSERT_TRUE(reader) << reader.error().text();
  EXPECT_EQ(reader->plan(), plan);
  obs::Stamped stamped;
  for (int i = 0; i < kEvents; ++i) {
    const auto more = reader->next(stamped);
    ASSERT_TRUE(more) << more.error().text();
    ASSERT_TRUE(*more);
    EXPECT_EQ(stamped.at.ns, i);
  }
  const auto more = reader->next(stamped);
  ASSERT_TRUE(more) << more.error().text();
  EXPECT_FALSE(*more);
  EXPECT_EQ(reader->ending().events, static_cast<std::uint64_t>(kEvents));
}

// ---- Option hash ------------------------------------------------------------------------------------------

TEST(OptionHash, DependsOnScenarioOptionsAndRulesOnly) {
  const std::uint64_t plain = optionHashOf(testHeader());
  Header same = testHeader();
  same.seed = 1;
  same.tool = "9";
  same.compiler = "other";
  same.names = {};
  EXPECT_EQ(optionHashOf(same), plain);
  Header reordered = testHeader();
  reordered.options = json::parse(R"({"loss":1000,"nodes":5})");
  reordered.rulesOff = {"DG3_WaitOut", "DG3_WaitOut"};
  EXPECT_EQ(optionHashOf(reordered), plain);
  Header scenario = testHeader();
  scenario.scenario = "S-02";
  EXPECT_NE(optionHashOf(scenario), plain);
  Header options = testHeader();
  options.options["loss"] = 1001;
  EXPECT_NE(optionHashOf(options), plain);
  Header rules = testHeader();
  rules.rulesOff.clear();
  EXPECT_NE(optionHashOf(rules), plain);
  EXPECT_EQ(plain, 0x9fc90718079cbdc8U);
}

// ---- Files ------------------------------------------------------------------------------------------------

TEST(TraceFile, GetsItsNameOnlyWhenComplete) {
  const TemporaryDirectory directory;
  const auto path = directory / "run.jsonl";
  const auto partial = directory / "run.jsonl.partial";
  auto writer = TraceWriter::create(path, testHeader(), kPlan);
  ASSERT_TRUE(writer) << writer.error().what;
  for (const obs::Stamped& stamped : sampleRun()) writer->on(stamped);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::exists(partial));
  const auto done = writer->finish(kVerdict, {4'000'000});
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(writer->events(), sampleRun().size());
  EXPECT_FALSE(std::filesystem::exists(partial));
  EXPECT_EQ(contentOf(path), sampleTrace());
  const auto trace = readTrace(path);
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(trace->ending.hash, writer->hash());
}

TEST(TraceFile, AnUnfinishedOneKeepsThePartialName) {
  const TemporaryDirectory directory;
  {
    auto writer = TraceWriter::create(directory / "run.jsonl", testHeader(), kPlan);
    ASSERT_TRUE(writer);
    writer->on(sampleRun()[0]);
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "run.jsonl"));
  EXPECT_EQ(linesOf(contentOf(directory / "run.jsonl.partial")).size(), 3U);
  const auto trace = readTrace(directory / "run.jsonl.partial");
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().text(),
            (directory / "run.jsonl.partial").string() +
                ":4:1: truncated: the trace ends after event 1; expected more events or the "
                "last line, {\"verdict\":...}");
}

TEST(TraceFile, AnExistingFileIsNotTouchedUnlessTold) {
  const TemporaryDirectory directory;
  const auto path = directory / "run.jsonl";
  writeFile(path, "precious");
  const auto refused = TraceWriter::create(path, testHeader(), kPlan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "cannot create '" + path.string() + "': it exists already");
  EXPECT_EQ(contentOf(path), "precious");
  EXPECT_FALSE(std::filesystem::exists(directory / "run.jsonl.partial"));

  auto writer = TraceWriter::create(path, testHeader(), kPlan, IfExists::replace);
  ASSERT_TRUE(writer) << writer.error().what;
  EXPECT_EQ(contentOf(path), "precious");
  ASSERT_TRUE(writer->finish(kVerdict, {0}));
  EXPECT_TRUE(readTrace(path));
}

TEST(TraceFile, APartialFileIsNotTouchedUnlessTold) {
  const TemporaryDirectory directory;
  const auto partial = directory / "run.jsonl.partial";
  writeFile(partial, "another run's");
  const auto refused = TraceWriter::create(directory / "run.jsonl", testHeader(), kPlan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "cannot create '" + (directory / "run.jsonl").string() + "': '" +
                                      partial.string() +
                                      "' is being written, or was left by a run that was cut short");
  EXPECT_EQ(contentOf(partial), "another run's");
  auto writer = TraceWriter::create(directory / "run.jsonl", testHeader(), kPlan, IfExists::replace);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->finish(kVerdict, {0}));
  EXPECT_TRUE(readTrace(directory / "run.jsonl"));
}

TEST(TraceFile, AFileThatAppearsMeanwhileIsNotReplaced) {
  const TemporaryDirectory directory;
  const auto path = directory / "run.jsonl";
  auto writer = TraceWriter::create(path, testHeader(), kPlan);
  ASSERT_TRUE(writer);
  writeFile(path, "precious");
  const auto done = writer->finish(kVerdict, {0});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, "'" + path.string() +
                                   "' appeared while the trace was written, which is now in '" +
                                   path.string() + ".partial'");
  EXPECT_EQ(contentOf(path), "precious");
  EXPECT_TRUE(readTrace(directory / "run.jsonl.partial"));
}

TEST(TraceFile, PlacesWhereNoFileCanBeAreNamed) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "folder");
  const auto what = [&](const std::filesystem::path& path) {
    const auto writer = TraceWriter::create(path, testHeader(), kPlan);
    return writer ? "" : writer.error().what;
  };
  EXPECT_EQ(what(directory / "folder"),
            "cannot create '" + (directory / "folder").string() + "': it is a directory");
  EXPECT_EQ(what(directory / "folder/"),
            "cannot create '" + (directory / "folder/").string() + "': that is no name of a file");
  EXPECT_EQ(what(""), "cannot create '': that is no name of a file");
  EXPECT_EQ(
      what(directory / "none/run.jsonl"),
      "cannot create '" + (directory / "none/run.jsonl.partial").string() + "': No such file or directory");
  const std::string longName(300, 'x');
  EXPECT_EQ(what(directory / longName),
            "cannot create '" + (directory / (longName + ".partial")).string() + "': File name too long");
}

/// Lets no file of this process grow beyond `bytes`, which to the writer looks like a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(TraceFile, AFailureToWriteIsReportedAndLeavesNoFinalName) {
  const TemporaryDirectory directory;
  const auto path = directory / "run.jsonl";
  std::string what;
  bool failedEarly = false;
  {
    const FileSizeLimit limit(100'000);
    auto writer = TraceWriter::create(path, testHeader(), kPlan);
    ASSERT_TRUE(writer);
    for (int i = 0; i < 10'000; ++i) writer->on(sampleRun()[3]);
    failedEarly = writer->failure().has_value();
    EXPECT_EQ(writer->events(), 10'000U);
    const auto done = writer->finish(kVerdict, {0});
    ASSERT_FALSE(done);
    what = done.error().what;
  }
  EXPECT_TRUE(failedEarly);
  EXPECT_EQ(what, "cannot write '" + path.string() + ".partial': File too large");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(std::filesystem::file_size(directory / "run.jsonl.partial"), 100'000U);
}

/// A stream that takes so many bytes and no more.
class ShortBuffer : public std::streambuf {
 public:
  explicit ShortBuffer(std::streamsize room) : room_(room) {}

 protected:
  std::streamsize xsputn(const char*, std::streamsize count) override {
    const std::streamsize taken = std::min(count, room_);
    room_ -= taken;
    return taken;
  }
  int_type overflow(int_type) override { return traits_type::eof(); }

 private:
  std::streamsize room_;
};

TEST(TraceStream, AFailureToWriteIsReported) {
  for (const std::streamsize room : {0, 10, 2000}) {
    ShortBuffer buffer(room);
    std::ostream out(&buffer);
    auto writer = TraceWriter::to(out, testHeader(), kPlan);
    ASSERT_TRUE(writer);
    for (const obs::Stamped& stamped : sampleRun()) writer->on(stamped);
    const auto done = writer->finish(kVerdict, {0});
    ASSERT_FALSE(done) << room;
    EXPECT_EQ(done.error().what, "cannot write the trace: the stream has failed");
    EXPECT_TRUE(writer->failure());
  }
}

// ---- What no trace can hold -------------------------------------------------------------------------------

TEST(TraceWriter, RefusesWhatCouldNotBeReadBack) {
  std::ostringstream out;
  const auto what = [&](const Header& header, const json& plan) {
    const auto writer = TraceWriter::to(out, header, plan);
    return writer ? "" : writer.error().what;
  };
  const auto header = [](auto&& change) {
    Header changed = testHeader();
    change(changed);
    return changed;
  };
  const std::string rule = "; expected different names of 1 to 1024 bytes of UTF-8";
  EXPECT_EQ(what(header([](Header& h) { h.names.nodes[1] = "A"; }), kPlan),
            "the name of node 1 is \"A\" again" + rule);
  EXPECT_EQ(what(header([](Header& h) { h.names.keys[2] = ""; }), kPlan),
            "the name of key 2 is empty" + rule);
  EXPECT_EQ(what(header([](Header& h) { h.names.keys[0] = "\xff"; }), kPlan),
            "the name of key 0 is not UTF-8" + rule);
  EXPECT_EQ(what(header([](Header& h) { h.names.keys[0] = std::string(1025, 'k'); }), kPlan),
            "the name of key 0 has 1025 bytes" + rule);
  EXPECT_EQ(what(header([](Header& h) { h.scenario = "\xc3"; }), kPlan),
            "the scenario's name holds text that is not UTF-8");
  EXPECT_EQ(what(header([](Header& h) { h.options = json::array(); }), kPlan),
            "the options must be a JSON object");
  EXPECT_EQ(what(header([](Header& h) { h.options["x"] = "\xff"; }), kPlan),
            "an option holds text that is not UTF-8");
  EXPECT_EQ(what(testHeader(), 5), "the plan must be a JSON array or object");
  EXPECT_EQ(what(testHeader(), json::array({"\xff"})), "the plan holds text that is not UTF-8");
  json deep = json::array();
  for (int i = 0; i < 63; ++i) deep = json::array({deep});
  EXPECT_EQ(what(testHeader(), deep), "the plan is nested deeper than 63 levels");
  EXPECT_EQ(what(testHeader(), json::array({std::string(kMaxLineBytes, 'p')})),
            "the plan takes 16777229 bytes; at most 16777216 fit a line");
  EXPECT_EQ(out.str(), "");

  EXPECT_EQ(what(testHeader(), deep[0]), "");
  std::istringstream in(out.str());
  const auto reader = TraceReader::from(in, "deep");
  EXPECT_TRUE(reader) << reader.error().text();
}

TEST(TraceWriter, TheVerdictMustBeAnObject) {
  std::ostringstream out;
  auto writer = TraceWriter::to(out, testHeader(), kPlan);
  ASSERT_TRUE(writer);
  const auto done = writer->finish("held", {0});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, "the verdict must be a JSON object");
  const auto early = writer->finish(kVerdict, {-1});
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().what, "the run must not end before true time 0");
}

}  // namespace
}  // namespace holdfast::traces
