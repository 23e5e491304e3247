#include "tests/operators/drawn.h"

#include <fmt/format.h>

#include <algorithm>

namespace quern::numeric {

namespace {

/// The same on every machine and whatever other operators there are.
uint64_t seed_of(const std::string& name, uint64_t number) {
  uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash + number;
}

std::string definition_text(const std::string& name, const std::vector<std::string>& types,
                            const std::string& call) {
  std::vector<std::string> params;
  for (size_t k = 0; k < types.size(); ++k)
    params.push_back(fmt::format("%{}: {}", static_cast<char>('a' + k), types[k]));
  return fmt::format("def @{}({}) {{ {} }}\n", name, fmt::join(params, ", "), call);
}

}  // namespace

Drawn drawn(const Row& row, uint64_t number) {
  Random random(seed_of(row.name, number));
  return {row.make(random)};
}

std::string type_text(const HostTensor& tensor, const std::string& dim) {
  std::string dims;
  for (int64_t extent : tensor.shape())
    dims += (extent == 1 || dim.empty() ? std::to_string(extent) : dim) +
            (tensor.shape().size() == 1 ? "," : ", ");
  if (tensor.shape().size() > 1) dims.resize(dims.size() - 2);
  return tensor.shape().empty() ? std::string(to_string(tensor.dtype()))
                                : fmt::format("Tensor[({}), {}]", dims, to_string(tensor.dtype()));
}

std::string Drawn::definition(const std::string& name, const std::string& dim) const {
  std::vector<std::string> types;
  for (const TensorPtr& tensor : arguments.tensors) types.push_back(type_text(*tensor, dim));
  return definition_text(name, types, arguments.expression);
}

std::string Drawn::definition_with(const std::string& name, size_t tensor, const std::string& type) const {
  std::vector<std::string> types;
  for (const TensorPtr& t : arguments.tensors) types.push_back(type_text(*t));
  types[tensor] = type;
  return definition_text(name, types, arguments.expression);
}

std::string Drawn::definition_of(const std::string& name, const std::string& call) const {
  std::vector<std::string> types;
  for (const TensorPtr& tensor : arguments.tensors) types.push_back(type_text(*tensor));
  return definition_text(name, types, call);
}

std::vector<Value> Drawn::values() const {
  std::vector<Value> values;
  for (const TensorPtr& tensor : arguments.tensors) values.push_back(Value::tensor(tensor));
  return values;
}

std::string test_name(const std::string& op) {
  std::string name = op;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

std::string complaints(Session& session, const std::string& text) {
  SourceId source = session.add_source(session.make_module(), "drawn.relay", text);
  std::string all;
  for (const LocatedDiagnostic& d : session.check(source)) {
    if (severity_of(d.kind) != Severity::Error) continue;
    all += d.message + "\n";
    for (const LocatedNote& note : d.notes) all += "  " + note.message + "\n";
  }
  return all;
}

}  // namespace quern::numeric
