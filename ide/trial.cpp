#include "ide/trial.h"

#include <algorithm>

#include "ir/expr/equality.h"

namespace quern::ide {

namespace {

std::string after(std::string text, const TextEdits& edits) {
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit)
    text.replace(edit->first.begin, edit->first.end - edit->first.begin, edit->second);
  return text;
}

/// A source with another text as long as this lives.
class OtherText {
 public:
  OtherText(Session& session, SourceId source, std::string text)
      : session_(session), source_(source), before_(session.text(source)) {
    session_.set_text(source_, std::move(text));
  }
  ~OtherText() { session_.set_text(source_, before_); }
  OtherText(const OtherText&) = delete;
  OtherText& operator=(const OtherText&) = delete;

 private:
  Session& session_;
  SourceId source_;
  std::string before_;
};

}  // namespace

std::optional<TypedDeclarations> TypedDeclarations::of(Session& session, SourceId source,
                                                       const std::vector<size_t>& places) {
  TypedDeclarations typed;
  const std::vector<DeclarationId> declarations = session.declarations(source);
  for (const size_t place : places) {
    const DeclarationId id = declarations.at(place);
    const Inferred* inferred = session.inferred(id);
    if (!inferred || !inferred->definition.body || has_errors(session.check_declaration(id)))
      return std::nullopt;
    typed.definitions_.push_back(inferred->definition);
    typed.variables_.push_back(inferred->variable);
  }
  return typed;
}

bool TypedDeclarations::same_as(const TypedDeclarations& other) const {
  auto parts = [](const TypedDeclarations& all) {
    std::vector<ModulePart> list;
    for (size_t i = 0; i < all.definitions_.size(); ++i)
      list.push_back({&all.definitions_[i], all.variables_[i]});
    return list;
  };
  return !difference(parts(*this), parts(other));
}

std::vector<size_t> touched(Session& session, SourceId source, const TextEdits& edits) {
  std::vector<size_t> places;
  const std::vector<DeclarationId>& declarations = session.declarations(source);
  for (size_t i = 0; i < declarations.size(); ++i) {
    const Range range = session.range_of(declarations[i]);
    const bool is_touched = std::ranges::any_of(edits, [&](const auto& edit) {
      return edit.first.begin <= range.end && range.begin <= edit.first.end;
    });
    if (is_touched) places.push_back(i);
  }
  return places;
}

bool keep_meaning(Session& session, SourceId source, const TextEdits& edits,
                  const TypedDeclarations& before) {
  const std::vector<size_t> places = touched(session, source, edits);
  const size_t count = session.declarations(source).size();
  OtherText trial(session, source, after(session.text(source), edits));
  if (session.declarations(source).size() != count) return false;
  const auto found = TypedDeclarations::of(session, source, places);
  return found && found->same_as(before);
}

}  // namespace quern::ide
