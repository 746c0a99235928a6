// Recorded histories with their known verdicts, and what is told of those that are not linearizable.
#include "histories/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "histories/transactions.hpp"

namespace holdfast::histories {
namespace {

using linearizability::Verdict;
using testing::ElementsAre;

std::string textOf(const std::string& name) {
  std::ifstream in(std::string(HOLDFAST_SOURCE_DIR) + "/tests/histories/recorded/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

History historyOf(const std::string& name) {
  const auto history = read(textOf(name));
  EXPECT_TRUE(history.has_value()) << name;
  return history.value_or(History{});
}

Judgement judged(const std::string& name, const std::string& model) {
  JudgeOptions options;
  options.model = model;
  const auto judgement = judge(historyOf(name), options);
  EXPECT_TRUE(judgement.has_value()) << name;
  return judgement.value_or(Judgement{});
}

TEST(Recorded, LogsOfEtcdHaveTheirKnownVerdicts) {
  const std::set<int> good{48, 56, 76, 80, 92, 100};
  for (int number = 0; number <= 100; number += 4) {
    std::string name = std::to_string(1'000 + number).substr(1);
    name = "etcd_" + name + ".log";
    EXPECT_EQ(judged(name, "cas-register").verdict,
              good.contains(number) ? Verdict::linearizable : Verdict::notLinearizable)
        << name;
  }
}

TEST(Recorded, AStoreOfTextsIsJudgedKeyByKey) {
  EXPECT_EQ(judged("kv-c01-ok.txt", "key-value").verdict, Verdict::linearizable);
  const Judgement bad = judged("kv-c01-bad.txt", "key-value");
  EXPECT_EQ(bad.verdict, Verdict::notLinearizable);
  std::vector<std::string> keys;
  for (const Judged& object : bad.objects) {
    if (object.verdict == Verdict::notLinearizable) keys.push_back(object.key);
  }
  EXPECT_THAT(keys, ElementsAre("\"7\""));
}

TEST(Recorded, AMutexIsHeldByTwoWhereItIsSaid) {
  const History history = historyOf("knossos-mutex-etcd.edn");
  JudgeOptions options;
  options.model = "mutex";
  const auto judgement = judge(history, options);
  ASSERT_TRUE(judgement.has_value());
  ASSERT_EQ(judgement->verdict, Verdict::notLinearizable);
  const Judged& object = judgement->objects.front();
  EXPECT_EQ(history.operations[object.stuck].line, 1'096U);
  EXPECT_EQ(history.operations[object.stuck].returnLine, 1'120U);
  EXPECT_EQ(history.operations[object.stuck].function, "acquire");
  EXPECT_THAT(object.states, ElementsAre("held"));
}

TEST(Recorded, TheShortestFailureIsToldInFull) {
  const History history = historyOf("knossos-cas-rethink-minimal.edn");
  JudgeOptions options;
  options.model = "cas-register";
  const auto judgement = judge(history, options);
  ASSERT_TRUE(judgement.has_value());
  const Judged& object = judgement->objects.front();
  EXPECT_EQ(object.verdict, Verdict::notLinearizable);
  EXPECT_EQ(history.operations[object.stuck].line, 4U);
  EXPECT_THAT(object.states, ElementsAre("0", "4"));
}

TEST(Recorded, TheTransactionsOfAPaperHaveReadSkew) {
  const auto transactions =
      transactionsOf(historyOf("elle-paper-example.edn"), linearizability::Workload::listAppend);
  ASSERT_TRUE(transactions.has_value());
  const auto found =
      linearizability::findAnomalies(transactions->transactions, linearizability::Workload::listAppend);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().anomaly, linearizability::Anomaly::gSingle);
  EXPECT_THAT(found.front().transactions, ElementsAre(3, 1, 2));
}

TEST(Judge, TellsObjectsApartByThePairOfAValue) {
  const auto history = read(R"({:process 0 :type :invoke :f :write :value [:x 1]}
{:process 0 :type :ok :f :write :value [:x 1]}
{:process 1 :type :invoke :f :read :value [:y nil]}
{:process 1 :type :ok :f :read :value [:y 1]})");
  ASSERT_TRUE(history.has_value());
  JudgeOptions options;
  options.model = "register";
  options.keyOf = KeyOf::value;
  const auto judgement = judge(*history, options);
  ASSERT_TRUE(judgement.has_value());
  ASSERT_EQ(judgement->objects.size(), 2U);
  EXPECT_EQ(judgement->objects[0].verdict, Verdict::linearizable);
  EXPECT_EQ(judgement->objects[1].verdict, Verdict::notLinearizable);
}

TEST(Judge, RefusesWhatTheModelDoesNotHave) {
  const auto history = read(R"({"process": 0, "type": "invoke", "f": "enqueue", "value": 1})");
  ASSERT_TRUE(history.has_value());
  JudgeOptions options;
  options.model = "register";
  const auto judgement = judge(*history, options);
  ASSERT_FALSE(judgement.has_value());
  EXPECT_EQ(judgement.error().line, 1U);
  EXPECT_EQ(judgement.error().text,
            "register has no operation enqueue with the value 1; expected one of: read, write V");
}

TEST(Judge, JudgesEachModelFromJsonLines) {
  struct Case {
    const char* model;
    const char* text;
    bool good;
  };
  const Case cases[] = {
      {"fenced-lock", R"({"process":1,"type":"invoke","f":"acquire"}
{"process":1,"type":"ok","f":"acquire","value":7}
{"process":1,"type":"invoke","f":"release"}
{"process":1,"type":"ok","f":"release"}
{"process":2,"type":"invoke","f":"acquire"}
{"process":2,"type":"ok","f":"acquire","value":7})",
       false},
      {"semaphore", R"({"process":1,"type":"invoke","f":"acquire","value":2}
{"process":1,"type":"ok","f":"acquire","value":2})",
       false},
      {"counter", R"({"process":1,"type":"invoke","f":"add","value":2}
{"process":2,"type":"invoke","f":"read"}
{"process":2,"type":"ok","f":"read","value":2}
{"process":1,"type":"ok","f":"add","value":2})",
       true},
      {"set", R"({"process":1,"type":"invoke","f":"add","value":"a"}
{"process":1,"type":"ok","f":"add","value":"a"}
{"process":1,"type":"invoke","f":"read"}
{"process":1,"type":"ok","f":"read","value":[]})",
       false},
      {"queue", R"({"process":1,"type":"invoke","f":"enqueue","value":"a"}
{"process":1,"type":"info","f":"enqueue"}
{"process":2,"type":"invoke","f":"dequeue"}
{"process":2,"type":"ok","f":"dequeue","value":"a"})",
       true},
      {"multi-register", R"({"process":1,"type":"invoke","f":"txn","value":[["write","x",1],["write","y",2]]}
{"process":1,"type":"ok","f":"txn","value":[["write","x",1],["write","y",2]]}
{"process":1,"type":"invoke","f":"txn","value":[["read","x",null],["read","y",null]]}
{"process":1,"type":"ok","f":"txn","value":[["read","x",1],["read","y",null]]})",
       false},
      {"read-write-lock", R"({"process":1,"type":"invoke","f":"acquire-read"}
{"process":1,"type":"ok","f":"acquire-read"}
{"process":2,"type":"invoke","f":"acquire-write"}
{"process":2,"type":"ok","f":"acquire-write"})",
       false},
      {"reentrant-lock", R"({"process":1,"type":"invoke","f":"acquire"}
{"process":1,"type":"ok","f":"acquire"}
{"process":1,"type":"invoke","f":"acquire"}
{"process":1,"type":"ok","f":"acquire"})",
       true},
  };
  for (const Case& one : cases) {
    const auto history = read(one.text);
    ASSERT_TRUE(history.has_value()) << one.model;
    JudgeOptions options;
    options.model = one.model;
    const auto judgement = judge(*history, options);
    ASSERT_TRUE(judgement.has_value()) << one.model << ": " << judgement.error().text;
    EXPECT_EQ(judgement->verdict == Verdict::linearizable, one.good) << one.model;
  }
}

}  // namespace
}  // namespace holdfast::histories
