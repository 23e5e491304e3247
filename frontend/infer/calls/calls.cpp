#include "frontend/infer/calls/calls.h"

#include <cstdlib>
#include <tuple>

namespace quern {

// A word without a specialisation in its part does not link.
#define QUERN_CALLED(name, text, turn, part, ...) \
  template <>                                     \
  DraftPtr part::call<CalledWord::name>(SyntaxPtr s, Type wanted);
#include "frontend/syntax/called_words.def"
#undef QUERN_CALLED

DraftPtr Calls::call(SyntaxPtr s, Type wanted) {
  SyntaxPtr callee = s->child(0);
  if (callee->is(SyntaxKind::GlobalName) && callee->children.empty())
    if (const Declaration* head = scope_.global(callee->text); head && has_attributes_or_packs(*head))
      return operators_.call(s, *head);
  if (!callee->is(SyntaxKind::Name) && !callee->is(SyntaxKind::None)) return functions_.call(s);
  std::optional<CalledWord> word = find_called_word(callee->text);
  if (word == CalledWord::Index && s->children.size() != 2) word.reset();
  if (word && comes_first(*word)) return of_word(s, *word, wanted);
  if (const DataDefinition* data = scope_.data_of_constructor(callee->text))
    return constructors_.construct(s, callee, *data, wanted);
  if (const Declaration* op = scope_.op(callee->text)) return operators_.call(s, *op);
  return word ? of_word(s, *word, wanted) : unknown_call(s);
}

DraftPtr Calls::of_word(SyntaxPtr s, CalledWord word, Type wanted) {
  const auto parts = std::tie(intrinsics_, values_.tuples, values_.references, values_.derivatives,
                              values_.leaves, values_.rows, values_.partial_application);
  switch (word) {
#define QUERN_CALLED(name, text, turn, part, ...) \
  case CalledWord::name:                          \
    return std::get<part&>(parts).call<CalledWord::name>(s, wanted);
#include "frontend/syntax/called_words.def"
#undef QUERN_CALLED
  }
  std::abort();
}

DraftPtr Calls::unknown_call(SyntaxPtr s) {
  size_t before = diagnostics_.size();
  unknown_.report(s->child(0), DiagnosticKind::UnknownOperator, "operator");
  // The arguments of a foreign function need not be values here, and attributes never are.
  if (diagnostics_.size() > before && diagnostics_.back().kind == DiagnosticKind::ForeignName)
    return error(s);
  for (SyntaxPtr arg : s->children.subspan(1))
    if (!arg->is(SyntaxKind::NamedArgument) && !arg->is(SyntaxKind::String)) infer(arg);
  return error(s);
}

}  // namespace quern
