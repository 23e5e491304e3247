#pragma once
// The computation of one completion. Internal to ide/completion; the interface is ide/completion.h.

#include <optional>
#include <string>
#include <string_view>

#include "ide/candidates.h"
#include "ide/completion.h"
#include "ide/open_call.h"
#include "ide/words.h"
#include "ir/value/scalar.h"

namespace quern::ide {

/// `max(a, b)`
std::string scalar_form(ScalarOp op);

class Completer {
 public:
  /// `lexed`: the text or, for a source, the window around the offset.
  Completer(Session& session, ModuleId module, LexedText lexed, uint32_t offset, std::string folder,
            std::optional<SourceWindow> window);
  CompletionList run();

 private:
  /// The order of items whose names match equally well.
  enum Group { Best, Fitting, Next, Bound, Local, Declared, Called, Rest };

  // places (completion.cpp)
  bool in_comment() const;
  CompletionList in_string(size_t lexeme);
  CompletionList fields(size_t dot, uint32_t begin);
  /// The lexeme that the word at the offset begins with, or the first one after the offset.
  size_t word_at_offset();
  void at_place();
  bool begins_pattern() const;
  bool at_declared_name() const;
  bool at_clause() const;
  void after_value();

  // files (completion_files.cpp)
  /// The names of files with this extension, or, where it is "", of data.
  CompletionList files(uint32_t begin, std::string_view extension);

  // names (completion_names.cpp)
  void variables(Group group);
  void definitions(Group group);
  void statics();
  void operators();
  /// Those of the type `wanted` come first, in the order of its declaration.
  void constructors(Group group, Type wanted = nullptr);
  void types();
  void in_types();
  void dtypes(std::string_view quote);
  void bound_names();
  void values();
  void index_values();
  void static_values();
  void patterns();
  /// The type of what the pattern at the place matches; null if unknown.
  Type matched_type();
  /// That of the part of a pattern which is being typed between the brackets of `inner`.
  Type part_type(Type whole, const Frame& inner);
  void schedule();
  void words(WordKind kind, Group group);
  void word(std::string_view text, Group group);
  void attributes();
  bool attribute_value();
  std::vector<std::string> known_strings(const Parameter& attribute);
  void item(std::string label, CompletionKind kind, Group group, std::string detail = "");
  void declared(const std::string& label, CompletionKind kind, Group group, DeclarationId id, int fit = 0);

  const Frame& frame() const { return parse_.frames().back(); }
  bool begins_item() const { return at_ == frame().item_begin; }
  bool prev_is(std::string_view word) const { return at_ > 0 && lexed_.word(at_ - 1) == word; }

  Session& session_;
  ModuleId module_;
  LexedText lexed_;
  uint32_t offset_;
  std::string folder_;
  QuickParse parse_;
  KnownTypes types_;
  size_t at_ = 0;  ///< the lexeme that the word begins with
  Range replaced_;
  std::optional<OpenCall> call_;
  Wanted wanted_;
  Candidates found_{""};
};

}  // namespace quern::ide
