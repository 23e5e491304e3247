#include <fmt/format.h>

#include "tests/random/build.h"

namespace quern::random_programs {

std::string number_text(int64_t value, int fraction, const std::string& dtype) {
  if (dtype == "bool") return value & 1 ? "True" : "False";
  std::string suffix = dtype == "int64" ? "i64" : dtype == "float64" ? "f64" : "";
  if (!dtype.starts_with("float")) return fmt::format("{}{}", value, suffix);
  double number = static_cast<double>(value) / static_cast<double>(1 << fraction);
  std::string digits = fmt::format("{}", number);
  if (digits.find('.') == std::string::npos) digits += ".0";
  return digits + suffix;
}

std::string element_text(int64_t value, int fraction, const std::string& dtype) {
  const std::string text = number_text(value, fraction, dtype);
  return dtype == "int32" ? text + "i32" : dtype == "float32" ? text + "f" : text;
}

namespace {

std::string nested(const std::vector<Extent>& dims, size_t axis, const std::function<std::string()>& next) {
  if (axis == dims.size()) return next();
  std::string all;
  for (int64_t i = 0; i < dims[axis].constant; ++i) all += (i ? ", " : "") + nested(dims, axis + 1, next);
  return "[" + all + "]";
}

}  // namespace

TermPtr literal_term(const TypePtr& type, const std::function<std::string()>& next) {
  int64_t count = is_static(type) ? 1 : 0;
  for (const Extent& d : type->dims) count *= d.constant;
  Term term;
  term.tag = Term::Tag::Literal;
  term.type = type;
  if (count >= 1 && count <= 16) {
    std::string text = nested(type->dims, 0, next);
    term.parts = {text.starts_with("-") ? "(" + text + ")" : text};
  } else {
    term.parts = {
        fmt::format("full({}, shape={}, dtype=\"{}\")", next(), shape_text(type->dims), type->dtype)};
    for (const Extent& d : type->dims)
      if (!d.variable.empty()) term.uses.push_back(d.variable);
  }
  return std::make_shared<const Term>(std::move(term));
}

TermPtr simplest(const TypePtr& type, const ProgramTerm& program) {
  auto all = [&](const std::vector<TypePtr>& types, std::vector<TermPtr>& terms) {
    for (const TypePtr& t : types) {
      terms.push_back(simplest(t, program));
      if (!terms.back()) return false;
    }
    return true;
  };
  std::vector<TermPtr> terms;
  switch (type->kind) {
    case TypeTerm::Kind::Variable: return nullptr;
    case TypeTerm::Kind::Index: return plain(type, {"0"});
    case TypeTerm::Kind::Element: return plain(type, {element_text(0, 0, type->dtype)});
    case TypeTerm::Kind::Tensor:
      if (!is_spelled(type)) return nullptr;
      return literal_term(type, [&] { return number_text(0, 0, type->dtype); });
    case TypeTerm::Kind::Ref:
      if (!all(type->args, terms)) return nullptr;
      return plain(type, {"ref(", ")"}, terms);
    case TypeTerm::Kind::Tuple: {
      if (!all(type->args, terms)) return nullptr;
      std::vector<std::string> parts{"("};
      for (size_t i = 1; i < terms.size(); ++i) parts.emplace_back(", ");
      if (terms.empty()) return plain(type, {"()"});
      parts.emplace_back(terms.size() == 1 ? ",)" : ")");
      return plain(type, parts, terms);
    }
    case TypeTerm::Kind::Function: {
      TermPtr body = simplest(type->args.back(), program);
      if (!body) return nullptr;
      std::string params;
      for (size_t i = 0; i + 1 < type->args.size(); ++i)
        params += fmt::format("{}%unused{}: {}", i ? ", " : "", i, to_string(*type->args[i]));
      return plain(type, {"fn (" + params + ") { ", " }"}, {body});
    }
    case TypeTerm::Kind::Data:
      for (const DataTerm& d : program.data) {
        if (d.name != type->name) continue;
        for (const auto& c : d.constructors) {
          bool itself = false;
          for (const TypePtr& field : c.fields) itself |= field->name == d.name;
          terms.clear();
          if (itself || !all(c.fields, terms)) continue;
          if (terms.empty()) return plain(type, {c.name}, {}, {d.name});
          return call_term(type, c.name, terms, {d.name});
        }
      }
      return nullptr;
  }
  return nullptr;
}

}  // namespace quern::random_programs
