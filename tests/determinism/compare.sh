#!/usr/bin/env bash
# The same seed gives the same bytes, whoever compiled the code and with however many workers it runs.
#
# usage: compare.sh <hashes>... -- <holdfast> <holdfast>...
#
# Every program before the `--` (hashes.cpp, of one build each) has to print what the first prints. Behind it,
# every command has to verify, event by event, the traces that the first command writes, and to measure what
# the first measures.
set -euo pipefail

scenarios="S-02-handoff-5 S-11 S-30-applied S-68-counter-5 mixed"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

programs=()
while (($#)) && [[ $1 != -- ]]; do
  programs+=("$1")
  shift
done
(($# >= 3 && ${#programs[@]} >= 2)) || {
  echo "usage: compare.sh <hashes> <hashes>... -- <holdfast> <holdfast>..." >&2
  exit 64
}
shift

for program in "${programs[@]}"; do
  "$program" >"$scratch/hashes"
  [[ -s $scratch/hashes ]] || { echo "determinism: $program printed nothing" >&2; exit 1; }
  [[ -e $scratch/reference ]] || cp "$scratch/hashes" "$scratch/reference"
  diff -u --label "${programs[0]}" --label "$program" "$scratch/reference" "$scratch/hashes" >&2
done
# What differs between one worker and two is seen within each program.
if [[ $(sed -n 's/, [12] at a time//p' "$scratch/reference" | uniq -c | awk '$1 != 2' | wc -l) != 0 ]]; then
  echo "determinism: one worker and two differ" >&2
  grep 'at a time' "$scratch/reference" >&2
  exit 1
fi

reference=$1
verified=0
for scenario in $scenarios; do
  trace="$scratch/$scenario.jsonl"
  "$reference" run "$scenario" --seed 7 --trace "$trace" >/dev/null 2>&1 </dev/null
  for command in "$@"; do
    "$command" replay --verify "$trace" >"$scratch/out" 2>&1 </dev/null || {
      cat "$scratch/out" >&2
      echo "determinism: $command does not verify the trace of $scenario by $reference" >&2
      exit 1
    }
    verified=$((verified + 1))
  done
done

for command in "$@"; do
  "$command" measure --what cost,latency,one-down --nodes 3 --json -q >"$scratch/figures" 2>&1 </dev/null
  [[ -e $scratch/measured ]] || cp "$scratch/figures" "$scratch/measured"
  diff -u --label "$reference" --label "$command" "$scratch/measured" "$scratch/figures" >&2
done

printf 'determinism: %d hashes agree among %d builds, and %d replays verify\n' \
  "$(wc -l <"$scratch/reference")" "${#programs[@]}" "$verified"
