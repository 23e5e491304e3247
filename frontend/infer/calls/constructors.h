#pragma once
// Constructors: as calls, and as functions.

#include <string_view>
#include <vector>

#include "frontend/infer/walk/walk.h"

namespace quern {

class Constructors : public WalkPart {
 public:
  Constructors(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  /// `name` is the constructor as written; `s` is its call, or the name itself: without arguments, a
  /// constructor with fields is a function.
  DraftPtr construct(SyntaxPtr s, SyntaxPtr name, const DataDefinition& data, Type wanted);

 private:
  /// The values given for the fields, by field number, and their syntax.
  struct Given {
    std::vector<DraftPtr> values;
    std::vector<SyntaxPtr> at;
  };
  bool type_arguments(SyntaxPtr s, const DataDefinition& data, Substitution& substitution);
  bool add_fields(SyntaxPtr s, const DataConstructor& constructor, const Substitution& substitution,
                  Given& given);
  std::optional<size_t> field_named(SyntaxPtr arg, const DataConstructor& constructor);
  bool has_all(SyntaxPtr s, const DataConstructor& constructor, const Given& given, size_t arguments);
  DraftPtr function(SyntaxPtr s, const DataConstructor& constructor, Type type,
                    const Substitution& substitution);
  DraftPtr make(SyntaxPtr s, Type type, const DataConstructor& constructor, std::string_view written,
                const std::vector<DraftPtr>& fields);
};

}  // namespace quern
