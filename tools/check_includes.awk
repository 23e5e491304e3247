# awk -f tools/check_includes.awk FILE...
# Holds the direction of includes: a room includes only the rooms below it, and a heavy or narrow library is
# included only where it belongs. Paths are relative to the root of the repository, as includes are.

BEGIN {
  # The rooms, lowest first. Equal ranks are neighbours that do not include each other; `runtime` and `vm` are
  # one room in two folders.
  rank["ir"] = 10
  rank["frontend"] = 20
  rank["passes"] = 30
  rank["jit"] = 40
  rank["jit/schedule"] = 41
  rank["jit/codegen"] = 42
  rank["jit/vendor"] = 42
  rank["jit/vm"] = 43
  rank["jit/tune"] = 44
  rank["session"] = 50
  rank["lsp"] = 60
  rank["repl"] = 70

  # Library headers (by the include as written) and the files that may include them.
  confine("^(llvm|llvm-c)/", "^jit/codegen/", "LLVM is included by jit/codegen only")
  confine("^(antlr4-|Quern(Lexer|Parser|Visitor|BaseVisitor)\\.h|generated/grammar/)", "^frontend/parser[^/]*$", \
          "ANTLR is included by frontend/parser* only")
  confine("^nlohmann/", "\\.cpp$", "nlohmann/json is included by .cpp files only")
  confine("^xgboost/", "^jit/tune/", "XGBoost is included by jit/tune only")
  confine("^sqlite3\\.h", "^(jit/tune|tests/unit)/", "SQLite is included by jit/tune only, and by tests that damage its files")
  confine("^(tbb|oneapi)/", "^jit/runtime/", "oneTBB is included by jit/runtime only")
  confine("^cuda\\.h", "^jit/runtime/", "cuda.h is included by jit/runtime only")
  confine("^CLI/", "^repl/", "CLI11 is included by repl only")
  confine("^zip\\.h", "^ir/.*\\.cpp$", "libzip is included by ir only")
}

function confine(header, place, rule) {
  confined++
  header_pattern[confined] = header
  place_pattern[confined] = place
  confined_rule[confined] = rule
}

# The room of a path; "" for tests, benchmarks and the build's own files, which may include anything.
function room_of(path, part, parts) {
  parts = split(path, part, "/")
  if (part[1] == "jit" && parts > 2) return part[2] == "runtime" ? "jit/vm" : "jit/" part[2]
  return parts > 1 && (part[1] in rank) ? part[1] : ""
}

function complain(text) {
  printf "%s:%d: %s\n", FILENAME, FNR, text
  failed = 1
}

FNR == 1 {
  room = room_of(FILENAME)
  exempt = FILENAME ~ /^cmake\//
  if (room != "" && !(room in rank)) complain("jit/ has no room named " room)
}

/^[ \t]*#[ \t]*include[ \t]*[<"]/ && !exempt {
  header = $0
  sub(/^[^<"]*[<"]/, "", header)
  sub(/[>"].*$/, "", header)

  if (header ~ /^\.\.?\//) complain("includes are written from the root of the repository")
  for (i = 1; i <= confined; i++) {
    if (header ~ header_pattern[i] && FILENAME !~ place_pattern[i]) complain(confined_rule[i])
  }

  target = room_of(header)
  if (room == "" || target == "" || target == room || !(room in rank)) next
  if (!(target in rank) || rank[target] >= rank[room]) {
    complain("includes \"" header "\": " room " is not above " target)
  }
}

END { exit failed }
