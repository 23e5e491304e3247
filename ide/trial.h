#pragma once
// Trials: edits that are applied to the session temporarily.

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

/// Calls `f` while a source has another text. Invalidates syntax and types of the source that were obtained before.
void with_text(Session& session, SourceId source, std::string text, const std::function<void()>& f);

/// The typed programs of some declarations of a source; they outlive its edits.
class TypedDeclarations {
 public:
  /// The declarations at these indices in the source, as far as they are typed: not operators, types and the like.
  /// Nothing if one has errors, or is typed only where it is used.
  static std::optional<TypedDeclarations> of(Session& session, SourceId source,
                                             const std::vector<size_t>& places);
  /// Whether they are the same programs, up to renaming of what they bind.
  bool same_as(const TypedDeclarations& other) const;

  /// Inlines the value of a variable, of a `let` in a body or a statement; false if there is no such variable.
  bool put_value_in_place(const IsBinding& is_it);
  /// Converts graph variables to those of `let`.
  void take_for_lets();
  void drop_schedules();
  /// Replaces one of their expressions; false if it is not one of theirs.
  bool replace(ExprPtr old, ExprPtr with, std::shared_ptr<const Arena> owner);
  /// Inlines the body of a function that is one of them into its calls, and drops the function; false if there is none.
  bool put_body_in_place(std::string_view global);
  /// Inlines an operator's definition into its calls.
  void put_operator_in_place(std::string_view op, FunctionSource& functions);

 private:
  /// The arena for new nodes.
  Arena& arena();
  void erase(size_t i);

  std::vector<Definition> definitions_;
  std::vector<const Variable*> variables_;
  std::shared_ptr<Arena> arena_;
};

/// The indices of the declarations that edits touch.
std::vector<size_t> touched(Session& session, SourceId source, const TextEdits& edits);

/// Edits of a source, and a condition on the edited text.
struct Change {
  TextEdits edits;
  std::function<bool(Session&)> holds;  ///< called while the source has that text
};

/// Whether the condition of a change holds, checked by `with_text`.
bool succeeds(Session& session, SourceId source, const Change& change);

/// Makes two programs comparable if only one of them has a name; false if it does not find its subject.
using SeeThrough = std::function<bool(Session&, TypedDeclarations&)>;

/// A change that holds if the declarations that it touches stay the same programs. `before` and `after`, if given, are
/// applied to the two sides before they are compared. Fails if declarations already have errors.
Result<Change> same_program(Session& session, SourceId source, TextEdits edits,
                            const SeeThrough& before = nullptr, SeeThrough after = nullptr);

/// The number of errors of a source, without those whose message contains `ignored`.
size_t count_errors(Session& session, SourceId source, std::string_view ignored = {});

/// A change that holds if it reduces the errors of the source.
Change with_fewer_errors(Session& session, SourceId source, TextEdits edits, std::string_view ignored = {});
/// A change that holds if it adds no errors.
Change without_new_errors(Session& session, SourceId source, TextEdits edits);

}  // namespace quern::ide
