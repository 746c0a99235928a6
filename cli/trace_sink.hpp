// Sinks that stand between a run, which knows no traces, and the traces.
#pragma once

#include <cstdint>

#include "observations/hash_chain.hpp"
#include "scenarios/sink.hpp"
#include "traces/trace.hpp"
#include "traces/verify.hpp"

namespace holdfast::cli {

/// Writes what is observed to a trace.
class WritingSink : public scenarios::ObservationSink {
 public:
  /// The writer must outlive the sink.
  explicit WritingSink(traces::TraceWriter& writer) : writer_(writer) {}
  void observe(const obs::Stamped& stamped, std::uint64_t) override {
    writer_.on(stamped);
    last_ = stamped.at;
  }
  /// When the last observation was made.
  obs::TrueInstant last() const { return last_; }

 private:
  traces::TraceWriter& writer_;
  obs::TrueInstant last_;
};

/// Chains what is observed, and compares it with a recorded run if there is one.
class ComparingSink : public scenarios::ObservationSink {
 public:
  /// `verifier` may be null; else it must outlive the sink.
  explicit ComparingSink(traces::Verifier* verifier) : verifier_(verifier) {}
  void observe(const obs::Stamped& stamped, std::uint64_t) override {
    chain_.add(stamped);
    if (verifier_ != nullptr) verifier_->on(stamped);
  }
  std::uint64_t hash() const { return chain_.value(); }
  std::uint64_t count() const { return chain_.count(); }

 private:
  traces::Verifier* verifier_;
  obs::HashChain chain_;
};

}  // namespace holdfast::cli
