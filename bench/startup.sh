#!/usr/bin/env bash
# Wall time of whole commands, median and spread of 21 runs: a script of one statement (process start to the first
# statement's output and exit; the aim is under 80 ms) and the digits example (the aim is under 1.0 s in all).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
quern=build/release/quern
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo 'print("first")' >"$folder/first.relay"

# Prints: name, median, least and greatest of the runs in milliseconds.
measure() {
  local name=$1 times=() start end
  shift
  for _ in $(seq 21); do
    start=$EPOCHREALTIME
    "$@" >/dev/null
    end=$EPOCHREALTIME
    times+=($(((${end/./} - ${start/./}))))
  done
  mapfile -t times < <(printf '%s\n' "${times[@]}" | sort -n)
  awk -v n="$name" -v m="${times[10]}" -v a="${times[0]}" -v b="${times[20]}" \
    'BEGIN { printf "%-28s median %7.1f ms   least %7.1f   greatest %7.1f\n", n, m / 1000, a / 1000, b / 1000 }'
}

measure "one statement" "$quern" run "$folder/first.relay"
measure "quern --version" "$quern" --version
measure "digits, compiled" "$quern" run examples/digits.relay
measure "digits, check only" "$quern" check examples/digits.relay
