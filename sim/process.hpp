// Whether a node's process runs, is paused, or is down.
//
// Contract: a plain value whose transitions either happen or return why they cannot; a refused transition
// changes nothing. A paused process keeps its volatile state and its clocks run on (CK-1, CK-4); what arrives
// meanwhile is queued by the caller and counted here. A crash loses the volatile state, and with it whatever
// was queued; a restart is a new incarnation.
//
//      start            pause
//   down ----> running ------> paused        crash: running or paused -> down
//                      <------
//                       resume
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace holdfast::sim {

enum class ProcessState : std::uint8_t { running, paused, crashed };

constexpr std::string_view name(ProcessState state) {
  switch (state) {
    case ProcessState::running:
      return "running";
    case ProcessState::paused:
      return "paused";
    case ProcessState::crashed:
      return "crashed";
  }
  return "unknown";
}

/// A transition that the state does not allow.
struct ProcessError {
  std::string_view action;  ///< Refers to a literal.
  ProcessState state = ProcessState::crashed;

  std::string text() const {
    return "process: cannot " + std::string(action) + " a process that is " + std::string(name(state));
  }
  friend constexpr bool operator==(const ProcessError&, const ProcessError&) = default;
};

class Process {
 public:
  /// A process that was never started; it counts as crashed.
  constexpr Process() = default;

  /// A process in its first incarnation.
  static constexpr Process started() {
    Process p;
    p.state_ = ProcessState::running;
    p.incarnations_ = 1;
    return p;
  }

  constexpr ProcessState state() const { return state_; }
  constexpr bool running() const { return state_ == ProcessState::running; }
  constexpr bool paused() const { return state_ == ProcessState::paused; }
  constexpr bool crashed() const { return state_ == ProcessState::crashed; }
  /// How often the process was started; the number of the present or last incarnation, counted from 1.
  constexpr std::uint32_t incarnations() const { return incarnations_; }
  /// Deliveries that wait for a paused process to resume.
  constexpr std::uint32_t queued() const { return queued_; }

  /// Starts the next incarnation and gives its number.
  constexpr std::expected<std::uint32_t, ProcessError> start() {
    if (!crashed()) return refuse("start");
    state_ = ProcessState::running;
    return ++incarnations_;
  }

  constexpr std::expected<void, ProcessError> pause() {
    if (!running()) return refuse("pause");
    state_ = ProcessState::paused;
    return {};
  }

  /// Gives the number of deliveries that had queued and are due now.
  constexpr std::expected<std::uint32_t, ProcessError> resume() {
    if (!paused()) return refuse("resume");
    state_ = ProcessState::running;
    const std::uint32_t due = queued_;
    queued_ = 0;
    return due;
  }

  /// Gives the number of queued deliveries that are lost with it.
  constexpr std::expected<std::uint32_t, ProcessError> crash() {
    if (crashed()) return refuse("crash");
    state_ = ProcessState::crashed;
    const std::uint32_t lost = queued_;
    queued_ = 0;
    return lost;
  }

  /// Counts one delivery that the caller keeps until the process resumes.
  constexpr std::expected<void, ProcessError> enqueue() {
    if (!paused()) return refuse("queue a delivery for");
    ++queued_;
    return {};
  }

  friend constexpr bool operator==(const Process&, const Process&) = default;

 private:
  constexpr std::unexpected<ProcessError> refuse(std::string_view action) const {
    return std::unexpected(ProcessError{action, state_});
  }

  ProcessState state_ = ProcessState::crashed;
  std::uint32_t incarnations_ = 0;
  std::uint32_t queued_ = 0;
};

}  // namespace holdfast::sim
