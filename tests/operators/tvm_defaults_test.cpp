// The attributes of the library's operators and their defaults against those of TVM (tvm_defaults.txt).

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "frontend/signature/signature.h"
#include "tests/files.h"
#include "tests/support/library.h"

namespace quern::numeric {
namespace {

struct Row {
  std::string op, attribute, in_struct, in_signature, reason;
};
struct Table {
  std::vector<Row> rows;
  std::set<std::string> shared;   ///< operators of Relay: those of the rows, and those without attributes
  std::set<std::string> own;      ///< operators that Relay does not have
  std::set<std::string> derived;  ///< `op.attribute`: extents of operands
};

Table read_defaults(const std::string& text) {
  Table table;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells;
    for (size_t at = 0; at <= line.size();) {
      size_t end = std::min(line.find(" | ", at), line.size());
      cells.push_back(line.substr(at, end - at));
      at = end + 3;
    }
    if (cells.size() == 1) {
      std::istringstream words(line);
      std::string name;
      words >> name;
      std::set<std::string>& group = name == "own"       ? table.own
                                     : name == "derived" ? table.derived
                                                         : table.shared;
      while (words >> name) group.insert(name);
      continue;
    }
    cells.resize(5);
    table.rows.push_back({cells[0], cells[1], cells[2], cells[3], cells[4]});
    table.shared.insert(cells[0]);
  }
  return table;
}

/// The texts of an operator's attributes as they are declared, by name.
using Attributes = std::map<std::string, std::string>;

std::map<std::string, Attributes> attributes_of(const std::vector<Session::LibraryFile>& files) {
  std::map<std::string, Attributes> found;
  for (const Session::LibraryFile& file : files) {
    Session session;
    SourceId source = session.add_source(session.make_module(), file.name, file.text);
    for (auto& [id, tree] : session.trees(source)) {
      SyntaxPtr s = tree.root;
      bool composite = s->is(SyntaxKind::Def) && !s->text.starts_with("@");
      if (!composite && !s->is(SyntaxKind::Op) && !s->is(SyntaxKind::ExternOp)) continue;
      Attributes& attributes = found[std::string(s->text)];
      for (SyntaxPtr p : params_of(s)->children) {
        if (!p->is(SyntaxKind::AttributeParam)) continue;
        Range range = session.range_of({{id, p->id}, {}});
        attributes[std::string(p->text)] = file.text.substr(range.begin, range.end - range.begin);
      }
    }
  }
  return found;
}

/// Calls without an attribute.
class Probe {
 public:
  /// Whether an attribute that is left out has the value `expected` (`-`: whether it has to be given).
  bool has_default(const std::string& declared, const std::string& name, const std::string& expected,
                   bool header) {
    bool required = expected == "-";
    SourceId source = session_.add_source(
        session_.make_module(), "probe.relay",
        fmt::format("{}op probe({}) -> Tensor[(1,), int32]{} {{ [i] => 0 }}\nprobe()\n",
                    header ? "#[version = \"0.0.5\"]\n" : "", declared,
                    required ? "" : fmt::format(" where {} == {} : \"another default\"", name, expected)));
    auto diagnostics = session_.check(source);
    if (!required) return diagnostics.empty();
    return diagnostics.size() == 1 && diagnostics[0].kind == DiagnosticKind::MissingAttribute;
  }

 private:
  Session session_;
};

/// What is wrong with a row, given how the library declares the attribute; "" for nothing.
std::string disagreement(const Row& row, const std::string& declared, Probe& probe) {
  std::string found;
  if (row.in_struct == "absent") {
    if (probe.has_default(declared, row.attribute, "-", true)) found = "no text of TVM gives it";
  } else if (row.in_struct != "-" && !probe.has_default(declared, row.attribute, row.in_struct, true)) {
    found = "with a header its default is not " + row.in_struct;
  }
  if (found.empty() && row.in_signature != "absent" &&
      !probe.has_default(declared, row.attribute, row.in_signature, false))
    found = row.in_signature == "-" ? "it has a default" : "its default is not " + row.in_signature;
  if (row.reason.empty()) return found;
  return found.empty() ? "nothing differs, and a reason stands there" : "";
}

std::vector<std::string> disagreements(const Table& table, const std::vector<Session::LibraryFile>& files) {
  std::map<std::string, Attributes> library = attributes_of(files);
  Probe probe;
  std::vector<std::string> found;
  std::map<std::string, std::set<std::string>> of_tvm;
  for (const Row& row : table.rows) {
    of_tvm[row.op].insert(row.attribute);
    const Attributes& declared = library[row.op];
    auto attribute = declared.find(row.attribute);
    std::string wrong = attribute == declared.end() ? "the library does not have it"
                                                    : disagreement(row, attribute->second, probe);
    if (!wrong.empty()) found.push_back(fmt::format("{}.{}: {}", row.op, row.attribute, wrong));
  }
  for (const auto& [op, attributes] : library) {
    if (table.own.contains(op)) continue;
    if (!table.shared.contains(op)) found.push_back(op + ": it is not in the table");
    for (const auto& [name, _] : attributes)
      if (!of_tvm[op].contains(name) && !table.derived.contains(fmt::format("{}.{}", op, name)))
        found.push_back(fmt::format("{}.{}: TVM does not have it", op, name));
  }
  return found;
}

TEST(TvmDefaults, AreTheLibrarys) {
  Table table = read_defaults(read_file(std::string(QUERN_SOURCE_DIR) + "/tests/operators/tvm_defaults.txt"));
  EXPECT_THAT(disagreements(table, Session::builtin_library()), testing::IsEmpty());
}

TEST(TvmDefaults, EachMistakeIsSeen) {
  std::vector<Session::LibraryFile> library = {{"library.relay", R"(
op right(%a: Tensor[s, t], alpha: float = if (tvm == None) { 1e-5 } else { 1e-4 }, mode: string, extra: int = 1) -> Tensor[s, t] { [..i] => %a[..i] }
op wrong(%a: Tensor[s, t], alpha: float = 1e-5, beta: float = 0.5, size: int = 1, more: int = 1, given: int) -> Tensor[s, t] { [..i] => %a[..i] }
op plain(%a: Tensor[s, t]) -> Tensor[s, t] { [..i] => %a[..i] }
op new(%a: Tensor[s, t]) -> Tensor[s, t] { [..i] => %a[..i] }
op sized(%a: Tensor[(n), t], rank: int = n) -> Tensor[(n), t] { [i] => %a[i] }
op ours(%a: Tensor[s, t], any: int = 1) -> Tensor[s, t] { [..i] => %a[..i] }
)"}};
  Table table = read_defaults(R"(# A comment.
right | alpha | 1e-4 | 1e-5
right | mode | - | -
wrong | alpha | 1e-4 | 1e-5
wrong | beta | - | 0.75
wrong | size | - | -
wrong | axis | 1 | 1
wrong | absent | 1 | absent
wrong | given | absent | absent
right | extra | absent | absent
right | alpha | 1e-4 | 1e-5 | a reason that is none
without plain sized
own ours
derived sized.rank
)");
  EXPECT_THAT(disagreements(table, library),
              testing::UnorderedElementsAre(
                  "wrong.alpha: with a header its default is not 1e-4", "wrong.beta: its default is not 0.75",
                  "wrong.size: it has a default", "wrong.axis: the library does not have it",
                  "wrong.absent: the library does not have it", "wrong.given: no text of TVM gives it",
                  "right.alpha: nothing differs, and a reason stands there",
                  "wrong.more: TVM does not have it", "new: it is not in the table"));
}

}  // namespace
}  // namespace quern::numeric
