#!/usr/bin/env bash
# Checks lease.pml with SPIN's depth-first search and prints one line: states, transitions (the step into the
# initial state is not counted), errors, and states per second.
#
# usage: spin.sh <grants> [bug]     Needs spin and a C compiler; works in a folder of its own.
set -euo pipefail
model=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/lease.pml
grants=$1
bug=${2:-0}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
spin -a "-DGRANTS=$grants" "-DBUG=$bug" "$model" >/dev/null
cc -O2 -DSAFETY -DMEMLIM=4096 -o pan pan.c 2>/dev/null
start=$(date +%s%N)
./pan -m1000000 -w24 >report
end=$(date +%s%N)
awk -v ns=$((end - start)) '
  /states, stored/ { states = $1 }
  /transitions \(/ { transitions = $1 - 1 }
  /errors:/ { errors = $NF }
  END { printf "states %d transitions %d errors %d ", states, transitions, errors
        printf "rate %d\n", states * 1e9 / ns }
' report
