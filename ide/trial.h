#pragma once
// What a text would be with some edits: tried on the session, and taken back.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ide/see_through.h"
#include "ir/base/result.h"
#include "session/session.h"

namespace quern::ide {

using TextEdits = std::vector<std::pair<Range, std::string>>;  ///< in the order of the text

/// The text after edits.
std::string edited(std::string text, const TextEdits& edits);

/// Calls `f` while a source has another text. Syntax and types of the source that were got before mean
/// nothing after it.
void with_text(Session& session, SourceId source, std::string text, const std::function<void()>& f);

/// The typed programs of some declarations of a source; they outlive its edits.
class TypedDeclarations {
 public:
  /// Of the declarations with these places in the source's order, as far as they are typed: not of operators,
  /// types and the like. Nothing where one has errors, or is typed only where it is used.
  static std::optional<TypedDeclarations> of(Session& session, SourceId source,
                                             const std::vector<size_t>& places);
  /// Whether they are the same programs, up to names of what they bind.
  bool same_as(const TypedDeclarations& other) const;

  /// Puts the value of a variable, of a `let` in a body or a statement, in its place; false where none is the
  /// one.
  bool put_value_in_place(const IsBinding& is_it);
  /// Takes graph variables for those of `let`.
  void take_for_lets();
  void drop_schedules();
  /// Puts an expression in the place of one of theirs; false where that is none.
  bool replace(ExprPtr old, ExprPtr with, std::shared_ptr<const Arena> owner);
  /// Puts the body of a function that is one of them in the place of its calls, and drops it; false where
  /// none is.
  bool put_body_in_place(std::string_view global);
  /// Puts an operator's definition in the place of its calls.
  void put_operator_in_place(std::string_view op, FunctionSource& functions);

 private:
  /// For nodes beside those that there are.
  Arena& arena();
  void erase(size_t i);

  std::vector<Definition> definitions_;
  std::vector<const Variable*> variables_;
  std::shared_ptr<Arena> arena_;
};

/// The places of the declarations that edits touch.
std::vector<size_t> touched(Session& session, SourceId source, const TextEdits& edits);

/// Edits of a source, and what has to hold of the text with them.
struct Change {
  TextEdits edits;
  std::function<bool(Session&)> holds;  ///< asked while the source has that text
};

/// Whether what has to hold of a change does, by `with_text`.
bool succeeds(Session& session, SourceId source, const Change& change);

/// What makes two programs comparable of which one has a name that the other has not; false where it does not
/// find what it is about.
using SeeThrough = std::function<bool(Session&, TypedDeclarations&)>;

/// The change that leaves the declarations that it touches the same programs. `before` and `after` are done
/// to what is compared first, where they are given. A failure where declarations have errors already.
Result<Change> same_program(Session& session, SourceId source, TextEdits edits,
                            const SeeThrough& before = nullptr, SeeThrough after = nullptr);

/// The errors of a source, without those whose message has `ignored`.
size_t count_errors(Session& session, SourceId source, std::string_view ignored = {});

/// The change that leaves fewer errors in the source.
Change with_fewer_errors(Session& session, SourceId source, TextEdits edits, std::string_view ignored = {});
/// The change that makes no new ones.
Change without_new_errors(Session& session, SourceId source, TextEdits edits);

}  // namespace quern::ide
