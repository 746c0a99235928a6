#!/usr/bin/env bash
# Checks lease.m with rumur, without symmetry, and prints one line: states and rules fired.
#
# usage: rumur.sh     Needs rumur and a C compiler; works in a folder of its own.
set -euo pipefail
model=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/lease.m
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
rumur --symmetry-reduction off --threads 1 --output-format machine-readable --output checker.c "$model"
cc -std=c11 -O2 -march=native -o checker checker.c -lpthread 2>/dev/null
./checker >report
sed -nE 's/.*states="([0-9]+)".*rules_fired="([0-9]+)".*/states \1 transitions \2/p' report | tail -n 1
