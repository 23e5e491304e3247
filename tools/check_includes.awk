# awk -f tools/check_includes.awk FILE...
# Holds the direction of includes: a room includes only the rooms below it, and a heavy or narrow library is
# included only where it belongs. Paths are relative to the root of the repository, as includes are.

BEGIN {
  # The rooms, lowest first. Equal ranks are neighbours that do not include each other; `runtime` and `vm` are
  # one room in two folders.
  rank["ir/base"] = 1
  rank["ir/dim"] = 2
  rank["ir/type"] = 3
  rank["ir/value"] = 4
  rank["ir/expr"] = 5
  rank["ir/io"] = 5
  rank["ir/tokens"] = 6
  rank["ir/extern"] = 6
  rank["ir/interpret"] = 7
  rank["frontend/text"] = 10
  rank["frontend/syntax"] = 11
  rank["frontend/advice"] = 12
  rank["frontend/static"] = 12
  rank["frontend/parse"] = 13
  rank["frontend/index"] = 13
  rank["frontend/image"] = 14
  rank["frontend/names"] = 14
  rank["frontend/signature"] = 14
  rank["frontend/format"] = 14
  rank["frontend/unify"] = 15
  rank["frontend/infer/draft"] = 15.01
  rank["frontend/infer/context"] = 15.02
  rank["frontend/infer/names"] = 15.03
  rank["frontend/infer/gradual"] = 15.03
  rank["frontend/infer/relations"] = 15.04
  rank["frontend/infer/heads"] = 15.04
  rank["frontend/infer/operators"] = 15.05
  rank["frontend/infer/general"] = 15.06
  rank["frontend/infer/finish"] = 15.07
  rank["frontend/infer/walk"] = 15.08
  rank["frontend/infer/solve"] = 15.09
  rank["frontend/infer/indices"] = 15.095
  rank["frontend/infer/values"] = 15.10
  rank["frontend/infer/calls"] = 15.11
  rank["frontend/infer/bodies"] = 15.12
  rank["frontend/infer"] = 16
  rank["frontend/instance"] = 17
  rank["frontend/check"] = 17
  rank["frontend/print"] = 16
  rank["passes"] = 30
  rank["jit"] = 40
  rank["jit/loops"] = 41
  rank["jit/compute"] = 42
  rank["jit/nest"] = 43
  rank["jit/rules"] = 44
  rank["jit/schedule"] = 45
  rank["jit/codegen"] = 46
  rank["jit/vm"] = 47
  rank["jit/plan"] = 47.5
  rank["jit/cache"] = 48
  rank["jit/tune"] = 49
  rank["session/query"] = 50
  rank["session/texts"] = 50
  rank["session/db"] = 51
  rank["session"] = 52
  rank["session/run"] = 53
  rank["ide"] = 55
  rank["import"] = 55
  rank["export"] = 56
  rank["lsp"] = 60
  rank["repl"] = 70
  rank["serve"] = 75
  rank["cli"] = 80
  rank["jupyter"] = 80

  # Library headers (by the include as written) and the files that may include them.
  confine("^(llvm|llvm-c)/", "^jit/codegen/", "LLVM is included by jit/codegen only")
  confine("^(antlr4-|Quern(Lexer|Parser|Visitor|BaseVisitor)\\.h|generated/grammar/)", "^(tests/)?frontend/parse/parser[^/]*$", \
          "ANTLR is included by frontend/parse/parser* only")
  confine("^nlohmann/", "\\.cpp$", "nlohmann/json is included by .cpp files only")
  confine("^xeus/", "^jupyter/", "xeus is included by jupyter only")
  confine("^xgboost/", "^jit/tune/", "XGBoost is included by jit/tune only")
  confine("^sqlite3\\.h", "^(jit/cache|tests/jit/cache)/", "SQLite is included by jit/cache only, and by tests that damage its files")
  confine("^(tbb|oneapi)/", "^jit/runtime/", "oneTBB is included by jit/runtime only")
  confine("^cuda\\.h", "^jit/runtime/", "cuda.h is included by jit/runtime only")
  confine("^CLI/", "^(cli/|(jupyter|(import|export)/program)/main)", "CLI11 is included by cli and the main of other programs only")
  confine("^(onnx|google/protobuf)/", "^(tests/)?(import|export)/", "ONNX and protobuf are included by import and export only")
  confine("^toml[+][+]/", "^repl/settings/settings_file\\.cpp$", "toml++ is included by repl/settings/settings_file.cpp only")
  confine("^boost/", "^serve/server\\.cpp$", "Boost is included by serve/server.cpp only")
  confine("^zip\\.h", "^ir/io/libzip\\.h$", "libzip is included by ir/io/libzip.h only")
  confine("^png\\.h", "^ir/io/images/png\\.cpp$", "libpng is included by ir/io/images/png.cpp only")
  confine("^(jpeglib|jerror)\\.h", "^ir/io/images/jpeg\\.cpp$", "libjpeg is included by ir/io/images/jpeg.cpp only")
  confine("^zlib\\.h", "^ir/io/gzip\\.cpp$", "zlib is included by ir/io/gzip.cpp only")
  confine("^pcre2\\.h", "^ir/tokens/words\\.cpp$", "PCRE2 is included by ir/tokens/words.cpp only")
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
  if (parts > 3 && part[1] "/" part[2] == "frontend/infer") return "frontend/infer/" part[3]
  if (parts > 2 && part[1] ~ /^(ir|frontend|jit|session)$/) return part[2] == "runtime" ? "jit/vm" : part[1] "/" part[2]
  return parts > 1 && (part[1] in rank) ? part[1] : ""
}

function complain(text) {
  printf "%s:%d: %s\n", FILENAME, FNR, text
  failed = 1
}

FNR == 1 {
  room = room_of(FILENAME)
  exempt = FILENAME ~ /^cmake\//
  if (room != "" && !(room in rank)) complain("there is no room named " room)
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
