#include "histories/judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "checkers/linearizability/models.hpp"
#include "histories/names.hpp"

namespace holdfast::histories {
namespace {

namespace lin = linearizability;
using lin::Verdict;

constexpr std::array kModels = {
    ModelName{"register", "read, write V"},
    ModelName{"cas-register", "read, write V, cas [OLD NEW]"},
    ModelName{"multi-register", "txn [[read K nil] [write K V] ...]", false},
    ModelName{"mutex", "acquire, release (by anybody)"},
    ModelName{"reentrant-lock", "acquire, release (by its holder, as often as acquired)"},
    ModelName{"fenced-lock", "acquire (answered a token), release"},
    ModelName{"read-write-lock", "acquire-read, release-read, acquire-write, release-write"},
    ModelName{"semaphore", "acquire N, release N (1 if left out)"},
    ModelName{"counter", "add N, read"},
    ModelName{"set", "add V, remove V, read"},
    ModelName{"queue", "enqueue V, dequeue"},
    ModelName{"key-value", "get, put V, append V"},
};

template <class Op>
using Meaning = std::expected<std::optional<Op>, ReadError>;

bool isOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::unexpected<ReadError> notOf(std::string_view model, const Operation& operation) {
  const auto row = std::ranges::find(kModels, model, &ModelName::name);
  return std::unexpected(
      ReadError{operation.line, 1,
                fmt::format("{} has no operation {} with the value {}; expected one of: {}", model,
                            operation.function, operation.argument.printed(), row->operations)});
}

/// A pair whose first value is the key, where options say so.
const Value& withoutKey(const Value& value, KeyOf keyOf) {
  const bool pair = keyOf == KeyOf::value && value.isList() && value.items.size() == 2;
  return pair ? value.items[1] : value;
}

/// An operation with its key taken off.
struct Plain {
  const Operation& operation;
  const Value& argument;
  const Value& result;

  bool is(std::initializer_list<std::string_view> words) const { return isOneOf(operation.function, words); }
  bool known() const { return operation.outcome == Outcome::ok; }
  bool failed() const { return operation.outcome == Outcome::failed; }
};

// ---- What an operation means to each model: nothing for one without any effect --------------------------

Meaning<lin::Register::Operation> meaningOf(const lin::Register&, std::string_view model, const Plain& plain,
                                            Names& names) {
  lin::Register::Operation op;
  op.known = plain.known();
  if (plain.is({"read", "r", "get"})) {
    if (plain.failed()) return std::nullopt;
    op.value = names.numberOf(plain.result);
    return op;
  }
  if (plain.is({"write", "w", "put"})) {
    if (plain.failed()) return std::nullopt;
    op.kind = lin::Register::Operation::Kind::write;
    op.value = names.numberOf(plain.argument);
    return op;
  }
  const bool pair = plain.argument.isList() && plain.argument.items.size() == 2;
  if (model != "cas-register" || !plain.is({"cas", "compare-and-set"}) || !pair) {
    return notOf(model, plain.operation);
  }
  op.kind = lin::Register::Operation::Kind::compareAndSet;
  op.expected = names.numberOf(plain.argument.items[0]);
  op.value = names.numberOf(plain.argument.items[1]);
  if (plain.failed()) {
    // A client that could not reach anybody has not been told that the values differ.
    if (!plain.operation.logged || plain.operation.error) return std::nullopt;
    op.known = true;
    op.succeeded = false;
  }
  if (plain.result.kind == Value::Kind::boolean) op.succeeded = plain.result.number != 0;
  return op;
}

Meaning<lin::MultiRegister::Operation> meaningOf(const lin::MultiRegister&, std::string_view model,
                                                 const Plain& plain, Names& names) {
  if (plain.failed()) return std::nullopt;
  lin::MultiRegister::Operation op;
  const Value& steps = plain.known() && plain.result.isList() ? plain.result : plain.argument;
  if (!steps.isList()) return notOf(model, plain.operation);
  for (const Value& step : steps.items) {
    if (!step.isList() || step.items.size() != 3 || !step.items[0].isText()) {
      return notOf(model, plain.operation);
    }
    lin::MultiRegister::Access access;
    access.write = isOneOf(step.items[0].text, {"write", "w"});
    if (!access.write && !isOneOf(step.items[0].text, {"read", "r"})) return notOf(model, plain.operation);
    access.known = access.write || plain.known();
    access.key = names.numberOf(step.items[1]);
    access.value = names.numberOf(step.items[2]);
    op.accesses.push_back(access);
  }
  return op;
}

Meaning<lin::Lock::Operation> meaningOf(const lin::Lock& lock, std::string_view model, const Plain& plain,
                                        Names& names) {
  lin::Lock::Operation op;
  op.acquire = plain.is({"acquire", "lock"});
  if (!op.acquire && !plain.is({"release", "unlock"})) return notOf(model, plain.operation);
  if (plain.failed()) return std::nullopt;
  op.known = plain.known();
  Value caller;
  caller.kind = Value::Kind::text;
  caller.text = plain.operation.process;
  op.caller = names.numberOf(caller);
  if (lock.kind == lin::Lock::Kind::fenced && op.acquire && op.known) {
    if (plain.result.kind != Value::Kind::integer) return notOf(model, plain.operation);
    op.token = plain.result.number;
  }
  return op;
}

Meaning<lin::ReadWriteLock::Operation> meaningOf(const lin::ReadWriteLock&, std::string_view model,
                                                 const Plain& plain, Names& names) {
  lin::ReadWriteLock::Operation op;
  op.acquire = plain.is({"acquire-read", "acquire-write"});
  op.write = plain.is({"acquire-write", "release-write"});
  if (!op.acquire && !plain.is({"release-read", "release-write"})) return notOf(model, plain.operation);
  if (plain.failed()) return std::nullopt;
  Value caller;
  caller.kind = Value::Kind::text;
  caller.text = plain.operation.process;
  op.caller = names.numberOf(caller);
  return op;
}

Meaning<lin::Semaphore::Operation> meaningOf(const lin::Semaphore&, std::string_view model,
                                             const Plain& plain, Names&) {
  const bool acquire = plain.is({"acquire"});
  const bool counted = plain.argument.kind == Value::Kind::integer;
  if ((!acquire && !plain.is({"release"})) || (!counted && !plain.argument.isNil())) {
    return notOf(model, plain.operation);
  }
  if (plain.failed()) return std::nullopt;
  const std::int64_t permits = counted ? plain.argument.number : 1;
  if (permits < 0 || permits > 1'000'000'000) return notOf(model, plain.operation);
  return lin::Semaphore::Operation{acquire ? permits : -permits};
}

Meaning<lin::Counter::Operation> meaningOf(const lin::Counter&, std::string_view model, const Plain& plain,
                                           Names&) {
  lin::Counter::Operation op;
  op.read = plain.is({"read"});
  op.known = plain.known();
  const Value& value = op.read ? plain.result : plain.argument;
  const bool number = value.kind == Value::Kind::integer;
  if (!op.read && !plain.is({"add", "inc", "increment"})) return notOf(model, plain.operation);
  if (plain.failed()) return std::nullopt;
  if (!number && (op.read ? op.known : !value.isNil())) return notOf(model, plain.operation);
  op.value = number ? value.number : 1;
  return op;
}

Meaning<lin::Set::Operation> meaningOf(const lin::Set&, std::string_view model, const Plain& plain,
                                       Names& names) {
  lin::Set::Operation op;
  op.known = plain.known();
  if (plain.failed()) return std::nullopt;
  if (plain.is({"read"})) {
    op.kind = lin::Set::Operation::Kind::read;
    if (op.known && !plain.result.isList() && !plain.result.isNil()) return notOf(model, plain.operation);
    for (const Value& member : plain.result.items) op.read.push_back(names.numberOf(member));
    std::ranges::sort(op.read);
    return op;
  }
  if (!plain.is({"add", "remove"})) return notOf(model, plain.operation);
  if (plain.is({"remove"})) op.kind = lin::Set::Operation::Kind::remove;
  op.member = names.numberOf(plain.argument);
  return op;
}

Meaning<lin::Queue::Operation> meaningOf(const lin::Queue&, std::string_view model, const Plain& plain,
                                         Names& names) {
  lin::Queue::Operation op;
  op.enqueue = plain.is({"enqueue"});
  op.known = plain.known();
  if (!op.enqueue && !plain.is({"dequeue"})) return notOf(model, plain.operation);
  if (plain.failed()) return std::nullopt;
  op.value = names.numberOf(op.enqueue ? plain.argument : plain.result);
  return op;
}

std::string textOf(const Value& value) {
  if (value.isNil()) return {};
  return value.isText() ? value.text : value.printed();
}

Meaning<lin::KeyValue::Operation> meaningOf(const lin::KeyValue&, std::string_view model, const Plain& plain,
                                            Names&) {
  lin::KeyValue::Operation op;
  op.known = plain.known();
  using Kind = lin::KeyValue::Operation::Kind;
  if (plain.is({"put", "write"})) {
    op.kind = Kind::put;
  } else if (plain.is({"append"})) {
    op.kind = Kind::append;
  } else if (!plain.is({"get", "read"})) {
    return notOf(model, plain.operation);
  }
  if (plain.failed()) return std::nullopt;
  op.text = textOf(op.kind == Kind::get ? plain.result : plain.argument);
  return op;
}

// ---- States in words
// ----------------------------------------------------------------------------------------

std::string wordsOf(const lin::Register&, std::int64_t state, const Names& names) {
  return names.nameOf(state);
}

std::string wordsOf(const lin::MultiRegister&, const lin::MultiRegister::State& state, const Names& names) {
  std::vector<std::string> members;
  for (const auto& [key, value] : state) {
    members.push_back(fmt::format("{}: {}", names.nameOf(key), names.nameOf(value)));
  }
  return fmt::format("{{{}}}", fmt::join(members, ", "));
}

std::string wordsOf(const lin::Lock& lock, const lin::Lock::State& state, const Names& names) {
  if (state.depth == 0) return "free";
  if (lock.kind == lin::Lock::Kind::mutex) return "held";
  std::string words = fmt::format("held by {}", names.nameOf(state.holder));
  if (state.depth > 1) words += fmt::format(" {} times", state.depth);
  if (lock.kind == lin::Lock::Kind::fenced) words += fmt::format(" with token {}", state.token);
  return words;
}

std::string listOf(const std::vector<std::int64_t>& numbers, const Names& names) {
  std::vector<std::string> words;
  for (const std::int64_t number : numbers) words.push_back(names.nameOf(number));
  return fmt::format("[{}]", fmt::join(words, " "));
}

std::string wordsOf(const lin::ReadWriteLock&, const lin::ReadWriteLock::State& state, const Names& names) {
  if (state.empty()) return "free";
  const bool written = state.front() == lin::ReadWriteLock::kWriter;
  if (written) return fmt::format("held for writing by {}", names.nameOf(state.back()));
  return fmt::format("held for reading by {}", listOf(state, names));
}

std::string wordsOf(const lin::Semaphore&, std::int64_t state, const Names&) {
  return fmt::format("{} free", state);
}

std::string wordsOf(const lin::Counter&, std::int64_t state, const Names&) { return fmt::to_string(state); }

std::string wordsOf(const lin::Set&, const lin::Set::State& state, const Names& names) {
  return listOf(state, names);
}

std::string wordsOf(const lin::Queue&, const lin::Queue::State& state, const Names& names) {
  return listOf(state, names);
}

std::string wordsOf(const lin::KeyValue&, const std::string& state, const Names&) {
  return fmt::format("\"{}\"", state);
}

// ---- Objects
// ------------------------------------------------------------------------------------------------

/// The operations of one object, by their index in the history.
struct Part {
  std::string key;
  std::vector<std::uint32_t> operations;
};

std::expected<std::vector<Part>, ReadError> partsOf(const History& history, KeyOf keyOf) {
  std::vector<Part> parts;
  boost::unordered_flat_map<std::string, std::size_t> byKey;
  for (std::uint32_t i = 0; i < history.operations.size(); ++i) {
    const Operation& operation = history.operations[i];
    std::string key;
    if (keyOf == KeyOf::member && !operation.key.isNil()) key = operation.key.printed();
    if (keyOf == KeyOf::value) {
      if (!operation.argument.isList() || operation.argument.items.size() != 2) {
        return std::unexpected(ReadError{operation.line, 1,
                                         fmt::format("the value {} has no key; expected a pair [KEY VALUE]",
                                                     operation.argument.printed())});
      }
      key = operation.argument.items[0].printed();
    }
    const auto [at, fresh] = byKey.try_emplace(key, parts.size());
    if (fresh) parts.push_back({key, {}});
    parts[at->second].operations.push_back(i);
  }
  return parts;
}

template <lin::Model M>
std::expected<Judged, ReadError> judgePart(const M& model, const History& history, Part part,
                                           const JudgeOptions& options) {
  Names names;
  Judged judged;
  judged.key = std::move(part.key);
  lin::Calls<typename M::Operation> calls;
  for (const std::uint32_t index : part.operations) {
    const Operation& operation = history.operations[index];
    const Plain plain{operation, withoutKey(operation.argument, options.keyOf),
                      withoutKey(operation.result, options.keyOf)};
    auto meaning = meaningOf(model, options.model, plain, names);
    if (!meaning) return std::unexpected(meaning.error());
    if (!*meaning) continue;
    lin::Call<typename M::Operation> call;
    call.operation = std::move(**meaning);
    call.invoked = operation.invoked;
    if (operation.outcome != Outcome::unknown) call.returned = operation.returned;
    calls.push_back(std::move(call));
    judged.operations.push_back(index);
  }
  const auto result = lin::check(model, calls, options.limits);
  judged.verdict = result.verdict;
  judged.configurations = result.configurations;
  const auto indexOf = [&](std::uint32_t call) { return judged.operations[call]; };
  for (const std::uint32_t call : result.order) judged.order.push_back(indexOf(call));
  for (const std::uint32_t call : result.window) judged.window.push_back(indexOf(call));
  if (result.stuck != lin::kNever) judged.stuck = indexOf(result.stuck);
  for (const auto& state : result.states) judged.states.push_back(wordsOf(model, state, names));
  return judged;
}

template <lin::Model M>
std::expected<Judgement, ReadError> judgeBy(const M& model, const History& history,
                                            const JudgeOptions& options) {
  auto parts = partsOf(history, options.keyOf);
  if (!parts) return std::unexpected(parts.error());
  Judgement judgement;
  for (Part& part : *parts) {
    auto judged = judgePart(model, history, std::move(part), options);
    if (!judged) return std::unexpected(judged.error());
    const bool worse = judged->verdict == Verdict::notLinearizable ||
                       (judged->verdict == Verdict::unknown && judgement.verdict == Verdict::linearizable);
    if (worse) judgement.verdict = judged->verdict;
    judgement.objects.push_back(std::move(*judged));
  }
  return judgement;
}

}  // namespace

std::span<const ModelName> models() { return kModels; }

std::expected<Judgement, ReadError> judge(const History& history, const JudgeOptions& options) {
  const std::string& name = options.model;
  if (name == "multi-register") return judgeBy(lin::MultiRegister{}, history, options);
  if (name == "mutex") return judgeBy(lin::Lock{lin::Lock::Kind::mutex}, history, options);
  if (name == "reentrant-lock") return judgeBy(lin::Lock{lin::Lock::Kind::reentrant}, history, options);
  if (name == "fenced-lock") return judgeBy(lin::Lock{lin::Lock::Kind::fenced}, history, options);
  if (name == "read-write-lock") return judgeBy(lin::ReadWriteLock{}, history, options);
  if (name == "semaphore") return judgeBy(lin::Semaphore{options.permits}, history, options);
  if (name == "counter") return judgeBy(lin::Counter{}, history, options);
  if (name == "set") return judgeBy(lin::Set{}, history, options);
  if (name == "queue") return judgeBy(lin::Queue{}, history, options);
  if (name == "key-value") return judgeBy(lin::KeyValue{}, history, options);
  return judgeBy(lin::Register{}, history, options);
}

}  // namespace holdfast::histories
