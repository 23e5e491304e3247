#!/usr/bin/env bash
# Training steps against PyTorch's, interleaved: a perceptron, and an LSTM as a recursive function against PyTorch's fused layer and its
# loop over cells. Medians of a round's ratios with their quartiles. PyTorch is Debian's python3-torch, where it is installed.
#   bench/training.sh [ROUNDS [THREADS]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rounds=${1:-7} threads=${2:-1}
python3=/usr/bin/python3
torch() { "$python3" bench/training/torch_side.py "$1" "$threads"; }
quern() { QUERN_THREADS="$threads" build/release/quern run "bench/training/$1.relay"; }
compare() {  # Quern's program, PyTorch's
  for ((round = 0; round < rounds; ++round)); do echo "$(quern "$1") $(torch "$2")"; done |
    "$python3" bench/training/summary.py "$1 against $2"
}
if "$python3" -c 'import torch' 2>/dev/null; then
  compare mlp mlp
  compare lstm lstm
  compare lstm lstm_loop
else
  echo "PyTorch is not installed: Quern alone, in ms a step"
  for program in mlp lstm; do echo "$program $(quern "$program")"; done
fi
