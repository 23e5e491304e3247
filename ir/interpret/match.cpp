#include "ir/interpret/match.h"

namespace quern::interpreter {

namespace {

bool walk(const Pattern& pattern, const Value& value, std::vector<PatternBinding>& bindings) {
  switch (pattern.kind) {
    case PatternKind::Wildcard: return true;
    case PatternKind::Variable: bindings.push_back({pattern.variable, value}); return true;
    case PatternKind::Constructor:
      if (auto* data = value.object_as<DataObject>();
          !data || data->constructor.tag != pattern.constructor->tag)
        return false;
      break;
    case PatternKind::Tuple: break;
  }
  const std::vector<Value>* fields = value.fields();
  for (size_t i = 0; i < pattern.parts.size(); ++i)
    if (!walk(*pattern.parts[i], (*fields)[i], bindings)) return false;
  return true;
}

}  // namespace

bool matches(const Pattern& pattern, const Value& value, std::vector<PatternBinding>& bindings) {
  bindings.clear();
  return walk(pattern, value, bindings);
}

}  // namespace quern::interpreter
