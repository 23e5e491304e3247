#!/usr/bin/env bash
# Derived adjoints of a 3x3 convolution with stride 2 and padding 1 (64 channels to 64, 56 by 56 to 28 by 28): the data
# gradient by residue classes against the same written as a scatter, and both gradients against the forward kernel. Each time
# is that of a call, from the difference of 21 calls and one; the kinds are interleaved, and a ratio is of one round's times.
#   bench/gradients.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rounds=${1:-5}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

declare -A kinds=(
  [forward]='nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1])'
  [data]='vjp(fn (%a: Tensor[(1, 64, 56, 56), float32]) { nn.conv2d(%a, %w, strides=[2, 2], padding=[1, 1]) })(%x, %g).1.0'
  [weight]='vjp(fn (%a: Tensor[(64, 64, 3, 3), float32]) { nn.conv2d(%x, %a, strides=[2, 2], padding=[1, 1]) })(%w, %g).1.0'
  [scatter]='by_scatter(%g, %w)'
)

program() {  # kind, calls
  cat <<EOF
op by_scatter(%g: Tensor[(n, o, p, q), t], %w: Tensor[(o, c, r, s), t]) -> Tensor[(n, c, 2 * p + r - 1, 2 * q + s - 1), t] {
  [b, k, y, x] => scatter[m < n, a < o, i < p, j < q, d < c, u < r, v < s] cast<t>(0)
    at (m, d, 2 * i + u, 2 * j + v) += %g[m, a, i, j] * %w[a, d, u, v]
}
def @go(%n: int32, %sum: float32, %x: Tensor[(1, 64, 56, 56), float32], %w: Tensor[(64, 64, 3, 3), float32],
        %g: Tensor[(1, 64, 28, 28), float32]) -> float32 {
  if (%n == 0) { %sum } else {
    let %y = ${kinds[$1]};
    @go(%n - 1, %sum + sum(%y[0, 0, 0, 0:1]), %x, %w, %g)
  }
}
@go($2, 0.0, ones((1, 64, 56, 56)), ones((64, 64, 3, 3)), ones((1, 64, 28, 28)))
EOF
}

for kind in "${!kinds[@]}"; do
  program "$kind" 1 >"$folder/$kind.1.relay"
  program "$kind" 21 >"$folder/$kind.21.relay"
done

seconds() {
  local before after
  before=$(date +%s%N)
  build/release/quern run "$1" >/dev/null
  after=$(date +%s%N)
  echo $((after - before))
}

for ((round = 0; round < rounds; ++round)); do
  for kind in forward data weight scatter; do
    one=$(seconds "$folder/$kind.1.relay")
    many=$(seconds "$folder/$kind.21.relay")
    echo "$kind $(((many - one) / 20))"
  done
done | awk '
  function middle(list, n,   i, j, t) {
    for (i = 2; i <= n; ++i) for (j = i; j > 1 && list[j - 1] > list[j]; --j) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
    return list[int((n + 1) / 2)]
  }
  function show(what, a, b,   i, n, list) {
    n = 0
    for (i = 1; i <= rounds; ++i) list[++n] = time[a, i] / time[b, i]
    printf "%-44s %6.2f  (%.2f to %.2f)\n", what, middle(list, n), list[1], list[n]
  }
  { ++count[$1]; time[$1, count[$1]] = $2; rounds = count["forward"] }
  END {
    for (kind in count) {
      for (i = 1; i <= rounds; ++i) times[i] = time[kind, i] / 1e6
      printf "%-8s %7.2f ms\n", kind, middle(times, rounds)
    }
    show("scatter / data gradient (aim: at least 2)", "scatter", "data")
    show("data gradient / forward (aim: at most 3)", "data", "forward")
    show("weight gradient / forward (aim: at most 3)", "weight", "forward")
  }'
