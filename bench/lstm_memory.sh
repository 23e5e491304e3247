#!/usr/bin/env bash
# Peak memory of the LSTM example over 100,000 steps against one step (the aim: within 10 MiB).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo 'save("one.npy", 1)' >"$folder/one.relay"
build/release/quern run "$folder/one.relay"

# Peak resident memory of a command in KiB, read off its own status while it still runs.
peak() {
  "$@" >/dev/null &
  local pid=$! most=0 now
  while now=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [[ -n $now ]]; do
    most=$now
    sleep 0.002
  done
  wait "$pid"
  echo "$most"
}

one=$(peak build/release/quern run examples/char_lstm.relay --input steps="$folder/one.npy")
all=$(peak build/release/quern run examples/char_lstm.relay)
echo "one step $one KiB, 100,000 steps $all KiB, difference $((all - one)) KiB"
