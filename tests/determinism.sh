#!/usr/bin/env bash
# The same seed gives the same bytes, whoever compiled the command and with however many workers it runs.
#
# usage: determinism.sh <holdfast>...   The first program is the reference that every other is compared with.
#
# Compares the trace hashes of single runs and of a short sweep with one and two workers, and lets every
# program verify, event by event, a trace that the reference wrote. SEEDS and SCENARIOS widen the comparison.
set -euo pipefail

seeds=${SEEDS:-24}
scenarios=${SCENARIOS:-S-02-handoff-5 S-11 S-30-applied S-68-counter-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compared=0

# The hashes that a command's JSON lines report, in their order; a report without any is a failure.
hashes() {
  local status=0
  "$@" --json >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
  # Codes up to 3 are verdicts of a run that took place.
  if ((status > 3)); then
    printf 'determinism: exit code %d from: %s\n' "$status" "$*" >&2
    cat "$scratch/err" >&2
    return 1
  fi
  printf 'exit %d\n' "$status"
  grep -oE '"(traceHash|sweepHash)" *: *"[^"]+"' "$scratch/out" || {
    printf 'determinism: no traceHash in the output of: %s\n' "$*" >&2
    return 1
  }
}

# same <name> <command>...: the command must report what the reference reported under that name.
same() {
  local name=$1 expected="$scratch/expected.$1"
  shift
  hashes "$@" >"$scratch/actual"
  if [[ ! -e $expected ]]; then
    cp "$scratch/actual" "$expected"
  elif ! diff -u --label reference --label "$*" "$expected" "$scratch/actual" >&2; then
    printf 'determinism: %s differs from the reference\n' "$*" >&2
    exit 1
  fi
  compared=$((compared + $(wc -l <"$scratch/actual") - 1))
}

(($# >= 2)) || { echo "usage: determinism.sh <holdfast> <holdfast>..." >&2; exit 64; }
for program in "$@"; do
  [[ -x $program ]] || { echo "determinism: $program does not exist" >&2; exit 1; }
done

reference=$1
for program in "$@"; do
  for scenario in $scenarios; do
    same "$scenario" "$program" run "$scenario" --seed 7
  done
  for workers in 1 2; do
    same sweep "$program" sweep --seeds "$seeds" --jobs "$workers"
  done
done

for scenario in $scenarios; do
  trace="$scratch/$scenario.jsonl"
  "$reference" run "$scenario" --seed 7 --trace "$trace" >/dev/null 2>&1 </dev/null
  [[ -s $trace ]] || { echo "determinism: $reference wrote no trace of $scenario" >&2; exit 1; }
  for program in "$@"; do
    "$program" replay --verify "$trace" >"$scratch/out" 2>&1 </dev/null || {
      cat "$scratch/out" >&2
      printf 'determinism: %s does not verify the trace of %s by %s\n' "$program" "$scenario" "$reference" >&2
      exit 1
    }
  done
done

printf 'determinism: %d hashes agree among %d programs\n' "$compared" "$#"
