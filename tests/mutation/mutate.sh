#!/usr/bin/env bash
# Mutation testing of checkers/: does a test fail when a checker is wrong?
#
# usage: mutate.sh [--jobs N] [--sample N] [PATTERN]      (`./dev mutate` builds what it needs, and calls it)
#
# Each table tests/mutation/*.txt lists edits of the checkers, one mutant an edit. A mutant is compiled
# without optimization, linked with the test program of checkers/ as the release build made it, and killed
# if a test fails, crashes or takes longer than a minute. Whoever survives says what no test looks at. A
# whole run writes docs/mutation.md; PATTERN (a regular expression) takes the mutants whose names match;
# --sample takes N of them, others at each commit, and checks that the page lists the mutants of the
# tables.
#
# A table holds comments (#) and, a line each:
#   file PATH         the file that the following mutants edit
#   mutant NAME       begins one; its full name is TABLE.NAME
#   means SENTENCE    what is wrong with it
#   equivalent WHY    only if no test can tell it from the original: it must survive
#   after TEXT        where to look: the edit is the first behind this text, which stands once in the file
#   - TEXT            what is replaced: one or more lines, of which the first and the last may be parts of a
#                     line; without `after`, it stands exactly once in the file
#   + TEXT            what replaces it (nothing: it is taken out)
#
# The working tree is not touched: edited copies lie under build/mutation, and come first where headers are
# looked for. Only what an edit or a test changed is tried again. Exit code: 0 if all that are not equivalent
# are killed and the page is right, 1 if not, 2 if a table is wrong or a mutant does not compile, 64 for
# usage.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=build/mutation
page=docs/mutation.md

fail() {
  printf 'mutate: %s\n' "$2" >&2
  exit "$1"
}

# try OUT OBJECT...: links the objects before the tests, runs them, and writes what came of it to OUT. Called
# by ninja. The objects come first, so that their inline functions are the ones that are linked.
try() {
  local out=$PWD/$1 objects=("${@:2}") link status=0 outcome
  link=$(<"$work/link")
  link=${link/@OBJECTS@/"${objects[*]/#/$PWD/}"}
  # shellcheck disable=SC2064  # Expanded now: `out` is local.
  trap "rm -f '$out.run' '$out.log'" EXIT
  (cd build/release && eval "${link/@OUT@/"'$out.run'"}")
  (ulimit -v 8000000 -c 0; RC_PARAMS=seed=1 timeout 60 "$out.run" --gtest_fail_fast) >"$out.log" 2>&1 ||
    status=$?
  if ((status == 0)); then
    outcome=survived
  elif outcome=$(grep -m 1 -oP '^\[  FAILED  \] \K[^ ,]+' "$out.log"); then
    outcome="killed $outcome"
  else
    ((status == 124)) && outcome='too slow' || outcome=crash
    outcome="killed ($outcome) $(sed -nE 's/^\[ RUN +\] //p' "$out.log" | tail -n 1)"
  fi
  printf '%s\n' "$outcome" >"$out.new"
  mv "$out.new" "$out"
}

if [[ ${1:-} == --try ]]; then
  try "${@:2}" 2>&1
  exit
fi

jobs=$(nproc) sample=0 pattern=
while (($#)); do
  case $1 in
    --jobs | --sample)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail 64 "$1 takes a number from 1 up"
      printf -v "${1#--}" %s "$2"
      shift
      ;;
    -*) fail 64 "unknown option '$1': mutate.sh [--jobs N] [--sample N] [PATTERN]" ;;
    *)
      [[ -z $pattern ]] || fail 64 "'$1' is a second pattern, and one is all that is taken"
      pattern=$1
      ;;
  esac
  shift
done

# ---- Which mutants

mkdir -p "$work"
table=$(awk -v work="$work" -f tests/mutation/tables.awk tests/mutation/*.txt) || exit 2
names=() chosen=()
declare -A file_of means_of why_of
while IFS=$'\t' read -r name file means why; do
  names+=("$name")
  file_of[$name]=$file means_of[$name]=$means why_of[$name]=$why
  [[ ! $name =~ $pattern ]] || chosen+=("$name")
done <<<"$table"
((${#chosen[@]})) || fail 64 "no mutant's name matches '$pattern'"
declare -A known  # that the page says survive
while read -r name; do known[$name]=1; done < <(
  sed -nE '/^## /{s/^## //;h}
    /^- `.*\*\*Survives\.\*\*$/{s/^- `([^`]+)`.*/\1/;G;s/(.*)\n(.*)/\2.\1/p}' "$page")
if ((sample)); then
  # Left to the whole run: an edited header, which costs as much as ten sources, and what is known to survive.
  commit=$(git rev-parse HEAD 2>/dev/null || true)
  mapfile -t chosen < <(for name in "${chosen[@]}"; do
    [[ ${file_of[$name]} == *.hpp || -n ${known[$name]:-} ]] ||
      printf '%s %s\n' "$(cksum <<<"$commit $name")" "$name"
  done | sort -n | head -n "$sample" | sed 's/.* //' | sort)
fi

# ---- How each is made, for ninja

# The release build knows where the checkers' headers are and how to link their tests. Clang compiles this in
# half the time: it reads of the compiled headers what it needs.
commands=$(ninja -C build/release -t commands holdfast_checkers_test)
compile="clang++-19 \$flags -O0 -g0 -w"
compile+=$(grep -m 1 'holdfast_checkers\.dir' <<<"$commands" |
  grep -oE ' -(D|I|isystem |std=)[^ ]+' | tr -d '\n')
tail -n 1 <<<"$commands" |
  sed -E 's/^: && //; s/ && :$//; s/ tests\/CMakeFiles/ @OBJECTS@&/; s/ -o [^ ]+/ -o @OUT@/' >"$work/link"
grep -q '@OBJECTS@.*@OUT@' "$work/link" || fail 2 "the release build links its tests in an unknown way"
if command -v ld.lld >/dev/null; then sed -i 's/ @OBJECTS@/ -fuse-ld=lld&/' "$work/link"; fi
tests=$(grep -oP ' \K(tests/CMakeFiles/\S+\.o|lib\S+\.a)' "$work/link" |
  sed 's/^/build\/release\//' | tr '\n' ' ')

printf '#include "%s"\n' checkers/*.cpp >"$work/all.new"
cmp -s "$work/all.new" "$work/all.cpp" || cp "$work/all.new" "$work/all.cpp"
[[ -f $work/headers.hpp ]] || printf '#include "checkers/checker_set.hpp"\n' >"$work/headers.hpp"

# edge OBJECT SOURCE FLAGS INPUTS
edge() {
  printf 'build %s: compile %s | %s\n  flags = %s -I.\n' "$1" "$2" "$4" "$3"
}
# An edited source replaces its own object, and shares the compiled headers; for an edited header all sources
# are compiled as one.
{
  printf 'builddir = %s\nrule compile\n  command = %s -MMD -MF $out.d -o $out -c $in\n' "$work" "$compile"
  printf '  depfile = $out.d\n  deps = gcc\n  description = $out\n'
  printf 'rule try\n  command = bash tests/mutation/mutate.sh --try $out $in\n  description = $out\n'
  edge "$work/headers.pch" "$work/headers.hpp" '-x c++-header' ''
  shared="-include-pch $work/headers.pch"
  objects=()
  for source in checkers/*.cpp; do
    objects+=("$work/original/$source.o")
    edge "${objects[-1]}" "$source" "$shared" "$work/headers.pch"
  done
  printf 'build %s/original/outcome: try %s | %s\n' "$work" "${objects[*]}" "$tests"
  for name in "${chosen[@]}"; do
    copy=$work/$name/${file_of[$name]}
    if [[ $copy == *.hpp ]]; then
      needs=$work/$name/all.o
      edge "$needs" "$work/all.cpp" "-I$work/$name" "$copy"
    else
      needs="$copy.o ${objects[*]/$work\/original\/${file_of[$name]}.o/}"
      edge "$copy.o" "$copy" "$shared" "$work/headers.pch"
    fi
    printf 'build %s/outcome: try %s | %s\n' "$work/$name" "$needs" "$tests"
  done
} >"$work/build.ninja"

# run TARGET...: makes what it can; what fails leaves no outcome behind, nor an old one.
run() {
  ninja -f "$work/build.ninja" -j "$jobs" -k 0 "$@" >"$work/log" 2>&1 ||
    sed -nE "s#^FAILED: ($work/[^/]+)/.*#\1/outcome#p" "$work/log" | xargs -r rm -f
}
outcome_of() {
  if [[ -f $work/$1/outcome ]]; then cat "$work/$1/outcome"; else echo 'does not compile'; fi
}

# ---- Run, and report

printf 'mutate: trying %d of %d mutants\n' ${#chosen[@]} ${#names[@]} >&2
run "$work/original/outcome"
[[ $(outcome_of original) == survived ]] ||
  fail 2 "the tests fail without a mutant: $(outcome_of original) (all that was said is in $work/log)"
run
declare -A outcomes
killed=0 survived=0 equivalent=0 broken=0
for name in "${chosen[@]}"; do
  outcome=$(outcome_of "$name")
  case $outcome,${why_of[$name]:+equivalent} in
    killed*,) killed=$((killed + 1)) ;;
    survived,) survived=$((survived + 1)) ;;
    survived,equivalent)
      equivalent=$((equivalent + 1))
      outcome=equivalent
      ;;
    *)
      broken=$((broken + 1))
      [[ $outcome != killed* ]] || outcome+=', though the table calls it equivalent'
      ;;
  esac
  outcomes[$name]=$outcome
  printf '%-60s %s\n' "$name" "$outcome"
done

# The page of a whole run; that of a sample, which takes the others for what the page calls them, must be it.
((!sample)) || for name in "${!known[@]}"; do outcomes[$name]=survived; done
write_page() {
  local checker name count same alive sum=(0 0 0) rows='' lists=''
  for checker in $(printf '%s\n' "${names[@]%%.*}" | sort -u); do
    count=0 same=0 alive=0 lists+=$'\n'"## $checker"$'\n\n'
    for name in "${names[@]}"; do
      [[ $name == "$checker".* ]] || continue
      count=$((count + 1)) lists+="- \`${name#*.}\`: ${means_of[$name]}"
      if [[ -n ${why_of[$name]} ]]; then
        same=$((same + 1)) lists+=" *Equivalent:* ${why_of[$name]}"
      elif [[ ${outcomes[$name]:-} == survived ]]; then
        alive=$((alive + 1)) lists+=' **Survives.**'
      fi
      lists+=$'\n'
    done
    rows+="| $checker | $count | $((count - same - alive)) | $same | $alive |"$'\n'
    sum=($((${sum[0]} + count)) $((${sum[1]} + same)) $((${sum[2]} + alive)))
  done
  local dead=$((${sum[0]} - ${sum[1]} - ${sum[2]}))
  cat <<TEXT
# Mutation testing of the checkers

<!-- Written by \`./dev mutate\`. -->

Each mutant is one edit that makes a checker wrong, from the tables in \`tests/mutation\`. It is killed if a
test of \`tests/checkers\` fails. \`./dev mutate\` tries them all and writes this page; \`./dev test\` tries
some, and checks that the page lists what is in the tables. A mutant is called equivalent only where no run
can tell it from the original.

$dead of $((${sum[0]} - ${sum[1]})) are killed.

| checker | mutants | killed | equivalent | survive |
|---|---|---|---|---|
$rows| all | ${sum[0]} | $dead | ${sum[1]} | ${sum[2]} |

What is wrong with each:
TEXT
  printf '%s' "$lists"
}

printf '%d killed, %d survived, %d equivalent, %d errors of the tables; score %d of %d\n' \
  "$killed" "$survived" "$equivalent" "$broken" "$killed" $((killed + survived))
((!broken)) || fail 2 "a mutant does not compile, or is not what its table calls it (see $work/log)"
if ((sample)); then
  write_page | diff "$page" - || fail 1 "$page is not what './dev mutate' would write"
elif [[ -z $pattern ]]; then
  write_page >"$page"
fi
((survived == 0))
