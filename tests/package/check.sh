#!/usr/bin/env bash
# Installs the build given as the argument into a scratch folder, and builds and runs a project that finds it
# there. Every header must be installed, and the command must start from where it was installed.
set -euo pipefail
build=$(realpath "$1")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
root=$(realpath "$here/../..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/install.log"

cd "$root"
for folder in sim observations protocol checkers traces explain pictures scenarios cli; do
  while IFS= read -r header; do
    cmp "$header" "$scratch/prefix/include/holdfast/$header"
  done < <(find "$folder" -name '*.hpp')
done

cmake -G Ninja -S "$here" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" >"$scratch/configure.log"
cmake --build "$scratch/build"
"$scratch/build/consumer"
"$scratch/prefix/bin/holdfast" list >/dev/null
echo "package: a project that found it was built and ran"
