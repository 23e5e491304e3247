#include "tests/random/program.h"

#include <algorithm>
#include <functional>

namespace quern::random_programs {

namespace {

TypePtr make(TypeTerm type) { return std::make_shared<const TypeTerm>(std::move(type)); }

std::string list(const std::vector<TypePtr>& types, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i ? ", " : "") + to_string(*types[i]);
  return text;
}

}  // namespace

TypePtr tensor(std::vector<Extent> dims, std::string dtype) {
  return make({TypeTerm::Kind::Tensor, std::move(dims), std::move(dtype), {}, ""});
}
TypePtr tuple(std::vector<TypePtr> fields) {
  return make({TypeTerm::Kind::Tuple, {}, "", std::move(fields), ""});
}
TypePtr function(std::vector<TypePtr> params, TypePtr result) {
  params.push_back(std::move(result));
  return make({TypeTerm::Kind::Function, {}, "", std::move(params), ""});
}
TypePtr data(std::string name) { return make({TypeTerm::Kind::Data, {}, "", {}, std::move(name)}); }
bool has_unwritten(const TypePtr& type) {
  return std::ranges::any_of(type->dims, [](const Extent& d) { return is_unwritten(d.variable); }) ||
         std::ranges::any_of(type->args, has_unwritten);
}
std::string note(const std::string& mark, const TypePtr& type) {
  auto forgets = [](auto&& self, const TypePtr& t) -> bool {
    const bool fixed = t->kind == TypeTerm::Kind::Function || t->kind == TypeTerm::Kind::Ref;
    return (fixed && has_unwritten(t)) ||
           std::ranges::any_of(t->args, [&](const TypePtr& arg) { return self(self, arg); });
  };
  return forgets(forgets, type) ? "" : note(mark + to_string(*type));
}
TypePtr ref(TypePtr content) { return make({TypeTerm::Kind::Ref, {}, "", {std::move(content)}, ""}); }
TypePtr type_variable(std::string name, bool numeric) {
  return make({TypeTerm::Kind::Variable, {}, numeric ? kNumeric : "", {}, std::move(name)});
}

std::string to_string(const Extent& extent) {
  if (extent.variable.empty()) return std::to_string(extent.constant);
  return is_unwritten(extent.variable) ? "?" : extent.variable;
}

std::string to_string(const TypeTerm& type) {
  switch (type.kind) {
    case TypeTerm::Kind::Tensor: {
      if (type.dims.empty()) return type.dtype;
      std::string dims;
      for (size_t i = 0; i < type.dims.size(); ++i) dims += (i ? ", " : "") + to_string(type.dims[i]);
      if (type.dims.size() == 1) dims += ",";
      return "Tensor[(" + dims + "), " + type.dtype + "]";
    }
    case TypeTerm::Kind::Tuple:
      return "(" + list(type.args, type.args.size()) + (type.args.size() == 1 ? ",)" : ")");
    case TypeTerm::Kind::Function:
      return "fn (" + list(type.args, type.args.size() - 1) + ") -> " + to_string(*type.args.back());
    case TypeTerm::Kind::Data: return type.name;
    case TypeTerm::Kind::Ref: return "Ref[" + to_string(*type.args[0]) + "]";
    case TypeTerm::Kind::Variable: return is_unwritten(type.name) ? "_" : type.name;
    case TypeTerm::Kind::Element:
    case TypeTerm::Kind::Index: return type.dtype;
  }
  return "";
}

bool same(const TypePtr& a, const TypePtr& b) {
  return a == b || (a->kind == b->kind && a->dims == b->dims && a->dtype == b->dtype && a->name == b->name &&
                    std::ranges::equal(a->args, b->args, same));
}

std::string written_variables(const DefTerm& def) {
  std::string names;
  auto add = [&](const std::string& name) {
    if (!is_unwritten(name)) names += (names.empty() ? "[" : ", ") + name;
  };
  for (const std::string& name : def.dim_variables) add(name);
  for (const TypePtr& type : def.type_variables) add(type->name);
  return names.empty() ? "" : names + "]";
}

namespace {

class Writer {
 public:
  explicit Writer(const Writing& writing) : writing_(writing) {}

  void put(std::string_view part) {
    bool omitted = false;
    for (char c : part) {
      if (c == kNoteBegin)
        omitted = writing_.omit >> (notes_++ % 64) & 1;
      else if (c == kNoteEnd)
        omitted = false;
      else if (!omitted)
        out.text += c;
    }
  }
  void put(const TermPtr& term) {
    size_t begin = out.text.size();
    for (size_t i = 0; i < term->parts.size(); ++i) {
      put(term->parts[i]);
      if (i < term->children.size()) put(term->children[i]);
    }
    out.ranges.try_emplace(term.get(), TextRange{begin, out.text.size()});
  }
  void put(const DataTerm& type) {
    put("type " + type.name + " { ");
    for (size_t i = 0; i < type.constructors.size(); ++i) {
      const auto& c = type.constructors[i];
      std::string fields;
      for (size_t k = 0; k < c.fields.size(); ++k)
        fields += (k ? ", " : "") + (c.names.empty() ? "" : c.names[k] + ": ") + to_string(*c.fields[k]);
      put((i ? ", " : "") + c.name + (fields.empty() ? "" : "(" + fields + ")"));
    }
    put(" }\n");
  }
  void put(const DefTerm& def) {
    size_t begin = out.text.size();
    put("def @" + def.name);
    put(written_variables(def) + "(");
    for (size_t i = 0; i < def.params.size(); ++i)
      put((i ? ", %" : "%") + def.params[i].first + ": " + to_string(*def.params[i].second));
    put(")" + note(" -> ", def.result) + " {\n  ");
    put(def.body);
    put("\n}\n");
    out.defs[def.name] = {begin, out.text.size()};
  }

  WrittenProgram out;

 private:
  Writing writing_;
  size_t notes_ = 0;
};

}  // namespace

WrittenProgram write(const ProgramTerm& program, const Writing& writing) {
  Writer writer(writing);
  for (const OpTerm& op : program.ops) writer.put(op.text + "\n");
  for (const DataTerm& type : program.data) writer.put(type);
  for (const DefTerm& def : program.defs) writer.put(def);
  for (const StatementTerm& statement : program.statements) {
    std::string annotation = note(": ", statement.value->type);
    writer.put("let %" + statement.variable + (statement.general ? "" : annotation) + " = ");
    writer.put(statement.value);
    writer.put(";\n");
  }
  return std::move(writer.out);
}

std::set<std::string> free_names(const TermPtr& term) {
  std::set<std::string> names(term->uses.begin(), term->uses.end());
  for (const TermPtr& child : term->children) names.merge(free_names(child));
  for (const std::string& bound : term->binds) names.erase(bound);
  return names;
}

size_t size(const TermPtr& term) {
  size_t total = 1;
  for (const TermPtr& child : term->children) total += size(child);
  return total;
}

size_t size(const ProgramTerm& program) {
  size_t total = program.data.size();
  for (const DefTerm& def : program.defs) total += 1 + size(def.body);
  for (const StatementTerm& statement : program.statements) total += 1 + size(statement.value);
  return total;
}

}  // namespace quern::random_programs
