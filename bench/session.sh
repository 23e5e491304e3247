#!/usr/bin/env bash
# The session's bench (bench/session_bench.cpp): cold check of 100,000 lines, and edits of 10,000-line modules. The figures
# of docs/performance.md come from it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cmake --build --preset release --target quern_session_bench >/dev/null
build/release/quern_session_bench "$@"
