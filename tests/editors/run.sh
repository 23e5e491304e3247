#!/usr/bin/env bash
# One test of the editors' plugins or of the language server by a client of its own:
#   run.sh NAME QUERN FOLDER
# QUERN is the program, FOLDER where packages of npm are kept between runs. Ends with 77 where what the test needs is
# not on the machine.
set -euo pipefail

name="$1" quern="$2" kept="$3"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
editors="$(cd "$here/../../editors" && pwd)"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

skip() {
  printf 'skipped: %s\n' "$*"
  exit 77
}
need() {
  local program
  for program in "$@"; do command -v "$program" >/dev/null || skip "there is no $program"; done
}
need_node() {
  need node npm flock
  local found
  found="$(node -p 'process.versions.node.split(".")[0]')"
  ((found >= $1)) || skip "node is $found, and $1 is needed"
}

# packages FOLDER: the packages of the lockfile in FOLDER are in $kept/NAME/node_modules after this, which is linked to
# $scratch/node_modules.
packages() {
  local source="$1" into="$kept/$2"
  mkdir -p "$into"
  # Tests run side by side.
  exec 9>"$into/lock"
  flock 9
  if ! cmp -s "$source/package-lock.json" "$into/installed.json"; then
    npm view vscode-jsonrpc@8.2.0 version --fetch-retries=0 --fetch-timeout=20000 &>"$scratch/log" ||
      skip "npm reaches no registry: $(tail -n 3 "$scratch/log")"
    rm -f "$into/installed.json"
    cp "$source/package.json" "$source/package-lock.json" "$into"
    (cd "$into" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
    cp "$source/package-lock.json" "$into/installed.json"
  fi
  flock -u 9
  ln -s "$into/node_modules" "$scratch/node_modules"
}

# What each piece of a text is to the grammar of TextMate.
test_grammar() {
  need_node 18
  packages "$here" tests
  cp -r "$here/grammar" "$scratch"
  cd "$scratch"
  local grammars="$editors/vscode/syntaxes" name scope
  node_modules/.bin/vscode-tmgrammar-test -g "$grammars/quern.tmLanguage.json" grammar/inline.relay
  while read -r name scope; do
    local command=(node_modules/.bin/vscode-tmgrammar-snap -g "$grammars/quern.tmLanguage.json" -g "$grammars/transcript.tmLanguage.json" -s "$scope" "grammar/$name")
    if [[ -n "${QUERN_UPDATE_GOLDENS:-}" ]]; then
      "${command[@]}" -u
      cp "grammar/$name.snap" "$here/grammar"
    fi
    "${command[@]}"
  done <<'TEXT'
language.relay source.quern
session.transcript text.quern.transcript
TEXT
}

test_protocol() {
  need_node 18
  packages "$here" tests
  cd "$scratch"
  node "$here/protocol.mjs" "$quern"
}

# The extension is packaged in $scratch/editors/vscode/dist.
package_extension() {
  need_node 20
  packages "$editors/vscode" vscode
  mkdir -p "$scratch/editors"
  cp "$editors/../LICENSE" "$scratch"
  (cd "$editors" && tar -c --exclude=node_modules --exclude=dist vscode) | tar -xC "$scratch/editors"
  mv "$scratch/node_modules" "$scratch/editors/vscode"
  (cd "$scratch/editors/vscode" && npm run --silent package)
}

# What is packaged starts the server and shows what it says.
test_vscode() {
  package_extension
  cp "$here/vscode.cjs" "$scratch"
  node "$scratch/vscode.cjs" "$scratch/editors/vscode/dist/extension.js" "$quern"
}

# What is packaged is installed into Visual Studio Code, whose window Chromium shows.
test_window() {
  need chromium
  package_extension
  packages "$here/window" window
  rm "$scratch/node_modules"
  local code="$kept/window/node_modules/code-server/lib/vscode"
  # The editor's server takes modules for the page from its own folder.
  ln -sfn ../../.. "$code/node_modules"
  packages "$here" tests
  cd "$scratch"
  node "$here/window.mjs" "$quern" "$scratch/editors/vscode/dist/quern.vsix" "$code/out/server-main.js" "$(command -v chromium)"
}

# The page is built, and Chromium shows it.
test_browser() {
  need chromium
  need_node 20
  packages "$editors/browser" browser
  mkdir -p "$scratch/editors/vscode"
  cp -r "$editors/../examples" "$scratch"
  cp "$editors/vscode/language-configuration.json" "$scratch/editors/vscode"
  (cd "$editors" && tar -c --exclude=node_modules --exclude=dist browser) | tar -xC "$scratch/editors"
  mv "$scratch/node_modules" "$scratch/editors/browser"
  (cd "$scratch/editors/browser" && npm run --silent build)
  packages "$here" tests
  cd "$scratch"
  node "$here/browser.mjs" "$quern" "$scratch/editors/browser/dist" "$(command -v chromium)"
}

# A file with one error, in a project of its own.
sample() {
  touch "$scratch/quern.toml"
  cat >"$scratch/test.relay" <<'TEXT'
def @twice(%x: float32) -> float32 {
%x + %x
}
let %y = 1 + %missing;
/* a /* nested */ comment */ print("a \" string")
TEXT
  export QUERN="$quern" EDITORS="$editors" SCRATCH="$scratch" HOME="$scratch"
}

test_neovim() {
  need nvim timeout
  sample
  timeout 200 nvim --headless -u NONE -i NONE -n -S "$here/neovim.lua" </dev/null
}

# ALE works in a terminal alone.
test_vim() {
  need vim script timeout
  vim -es -u NONE -c 'if empty(globpath(&packpath, "pack/*/opt/ale")) | cquit 1 | endif' -c 'qall!' </dev/null ||
    skip "there is no ALE for Vim"
  sample
  timeout 200 script -qec "vim -N -u NONE -i NONE -n -S '$here/vim.vim'" /dev/null </dev/null >"$scratch/screen" || true
  [[ -f "$scratch/result" ]] || { cat -v "$scratch/screen"; return 1; }
  cat "$scratch/result"
  [[ ! -s "$scratch/result" ]]
}

test_emacs() {
  need emacs timeout
  emacs -q --batch --eval '(require (quote eglot))' &>/dev/null || skip "there is no Eglot for Emacs"
  sample
  timeout 200 emacs -q --batch -l "$here/emacs.el" -f ert-run-tests-batch-and-exit </dev/null
  # What the compiler of Emacs warns of is an error.
  cp "$editors/emacs/quern-mode.el" "$scratch"
  emacs -Q --batch --eval '(setq byte-compile-error-on-warn t)' -f batch-byte-compile "$scratch/quern-mode.el"
}

"test_$name"
