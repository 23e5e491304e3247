#pragma once
// Fields of tuples, `%t.0`, and of records, `%r.name`.

#include <string_view>

#include "frontend/infer/walk/walk.h"
#include "frontend/text/suggest.h"

namespace quern {

/// Suggests a constructor's field with a similar name, for an unknown field name at a place.
Suggestion suggest_field(const DataConstructor& constructor, std::string_view name, const Place& at);

class Fields : public WalkPart {
 public:
  Fields(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  DraftPtr projection(SyntaxPtr s);
  DraftPtr field(SyntaxPtr s);

 private:
  bool attempt(SyntaxPtr s, RecordFieldDraft& waiting);
  DraftPtr read(SyntaxPtr s, RecordFieldDraft& waiting, const DataDefinition& data, Type type);
  void report_unknown(SyntaxPtr s, const DataDefinition& data);
  void report_none(SyntaxPtr s, Type type, DraftPtr record);
};

}  // namespace quern
