#!/usr/bin/env bash
# How soon the language server answers on 10,000 lines (bench/lsp_bench.py), beside clangd where that is installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
clangd="$(command -v clangd || command -v clangd-14 || true)"
python3 bench/lsp_bench.py build/release/quern ${clangd:+"$clangd"}
