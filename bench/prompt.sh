#!/usr/bin/env bash
# How soon the prompt answers (bench/prompt_bench.cpp), and its start beside the prompts of other languages that are installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cmake --build --preset release --target quern_prompt_bench >/dev/null
build/release/quern_prompt_bench
for other in python3 ipython3 ghci ocaml utop clang-repl clang-repl-16 julia; do
  if command -v "$other" >/dev/null; then build/release/quern_prompt_bench "$other"; fi
done
