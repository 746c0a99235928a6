// How every protocol tells a caller that it is not admitted (section 12): 423 only where the key was held.
#pragma once

#include "observations/observation.hpp"
#include "protocol/context.hpp"

namespace holdfast::protocol {

/// Observes the refusal and answers the call. `Environment` has observe(), on() and context.
template <class Environment>
void refuseLock(CallId call, KeyId key, Cause cause, const Environment& env) {
  ErrorClass error = cause == Cause::contended ? ErrorClass::locked423 : ErrorClass::lockUnavailable503;
  // LH-5: who finds the feature switched off is told which switch it is, and may try again.
  if (cause == Cause::disabled && !env.on(Rule::LH5_OffIsUnavailable)) error = ErrorClass::conflict409;
  env.observe(obs::LockRefused{call, key, error, cause});
  env.context.reply(LockReply{call, key, error, cause, Path::cached, Token{}, {}});
}

}  // namespace holdfast::protocol
