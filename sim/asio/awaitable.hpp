// Names for coroutines on a virtual context, and how to start one.
//
// Contract: Awaitable<T> is Asio's awaitable bound to VirtualExecutor, without type erasure. The waits of
// timers and completions are co_awaited directly (`co_await timer.wait()`); where an awaitable is needed, as
// for the operators || and && of boost/asio/experimental/awaitable_operators.hpp, pass useAwaitable.
// Coroutines on the type-erased boost::asio::awaitable<T> work as well, at the cost of the erasure.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

#include "sim/asio/completion.hpp"
#include "sim/asio/virtual_context.hpp"
#include "sim/asio/virtual_timer.hpp"

namespace holdfast::sim {

template <class T = void>
using Awaitable = boost::asio::awaitable<T, VirtualExecutor>;

inline constexpr boost::asio::use_awaitable_t<VirtualExecutor> useAwaitable;

/// Starts a coroutine, given as a callable that returns an Awaitable<>. It begins at the context's next
/// runReady(). An exception that leaves it passes through runReady(), so a failed scenario is never silent.
template <class Coroutine>
void spawn(VirtualContext& context, Coroutine&& coroutine) {
  boost::asio::co_spawn(context.get_executor(), std::forward<Coroutine>(coroutine),
                        [](std::exception_ptr failure) {
                          if (failure) std::rethrow_exception(failure);
                        });
}

/// The same with a signal that cancels it: co_await then throws system_error(operation_aborted) in it, and
/// the coroutine ends quietly if it lets that pass. The signal must outlive the coroutine.
template <class Coroutine>
void spawn(VirtualContext& context, Coroutine&& coroutine, boost::asio::cancellation_signal& signal) {
  boost::asio::co_spawn(context.get_executor(), std::forward<Coroutine>(coroutine),
                        boost::asio::bind_cancellation_slot(signal.slot(), [](std::exception_ptr failure) {
                          if (!failure) return;
                          try {
                            std::rethrow_exception(failure);
                          } catch (const boost::system::system_error& error) {
                            if (error.code() != boost::asio::error::operation_aborted) throw;
                          }
                        }));
}

}  // namespace holdfast::sim
