// How every protocol tells a caller that it is not admitted (section 12): 423 only where the key was held.
#pragma once

#include "observations/observation.hpp"
#include "protocol/context.hpp"

namespace holdfast::protocol {

/// Observes the refusal and answers the call. `Environment` has observe() and context.
template <class Environment>
void refuseLock(CallId call, KeyId key, Cause cause, const Environment& env) {
  const ErrorClass error = cause == Cause::contended ? ErrorClass::locked423 : ErrorClass::lockUnavailable503;
  env.observe(obs::LockRefused{call, key, error, cause});
  env.context.reply(LockReply{call, key, error, cause, Path::cached, Token{}, {}});
}

}  // namespace holdfast::protocol
