// The arms that a `match` leaves out: a table of texts.

#include "tests/ide/refactored.h"

namespace quern::ide {
namespace {

constexpr const char* kAddArms = "add the missing arms";

const RefactoringRow kMissingArmsRows[] = {
    {"def @f(%o: Option[int32]) {\n  match (%$0o) {\n    Some(%x) => %x,\n  }\n}", kAddArms,
     "def @f(%o: Option[int32]) {\n  match (%o) {\n    Some(%x) => %x,\n    None => %todo,\n  }\n}"},
    {"def @f(%o: Option[int32]) { mat$0ch (%o) { None => 1 } }", kAddArms,
     "def @f(%o: Option[int32]) { match (%o) { None => 1, Some(_) => %todo } }"},
    {"type Shade { Light, Dark(int32) }\ndef @f(%s: Shade) -> int32 { match$0 (%s) {} }", kAddArms,
     "type Shade { Light, Dark(int32) }\ndef @f(%s: Shade) -> int32 { match (%s) { Light => %todo, "
     "Dark(_) => %todo } }"},
    {"def @f(%p: (Option[int32], Option[int32])) {\n  match$0 (%p) {\n    (Some(%x), _) => %x\n  }\n}",
     kAddArms,
     "def @f(%p: (Option[int32], Option[int32])) {\n  match (%p) {\n    (Some(%x), _) => %x,\n"
     "    (None, _) => %todo,\n  }\n}"},
    {"type L { A, B, C, D, E, F, G }\ndef @f(%l: L) { match$0 (%l) { A => 1 } }", kAddArms,
     "type L { A, B, C, D, E, F, G }\ndef @f(%l: L) { match (%l) { A => 1, B => %todo, C => %todo, "
     "D => %todo, E => %todo, F => %todo, G => %todo } }"},
    {"def @f(%o: Option[int32]) { match$0? (%o) { None => 1 } }", kAddArms, kNotOffered},
    {"def @f(%o: Option[int32]) { match$0 (%o) { None => 1, Some(_) => 2 } }", kAddArms, kNotOffered},
    {"def @f(%o: Option[int32]) { match$0 (%o) { Nothing => 1 } }", kAddArms, kNotOffered},
    {"def @f(%o: Option[int32]) { match$0 (%o) { None => 1", kAddArms, kNotOffered},
};

TEST(MissingArms, Table) {
  for (const RefactoringRow& row : kMissingArmsRows) expect_row(row);
}

}  // namespace
}  // namespace quern::ide
