#include "ide/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "frontend/static/builtins.h"
#include "frontend/text/diagnostics.h"
#include "frontend/text/foreign_names.h"
#include "frontend/text/suggest.h"
#include "ide/completer.h"
#include "ide/explain.h"
#include "ide/signature_line.h"
#include "ide/words.h"
#include "ir/expr/schedule.h"
#include "ir/type/dtype.h"

namespace quern::ide {

namespace {

std::string_view name_in(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n;";
  const size_t first = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::string example_of(std::string_view code) { return fmt::format("```quern\n{}\n```", code); }

// What a dtype is, and how its numbers are written.
std::string about_dtype(DType dtype) {
  if (dtype.is_bool()) return "`True` or `False`; one byte in memory.";
  if (!dtype.is_float() && !dtype.is_int()) return "";
  const std::string_view kind = dtype.is_float()    ? "A floating-point number"
                                : dtype.is_signed() ? "A signed integer"
                                                    : "An unsigned integer";
  std::string about = fmt::format("{} of {} bits", kind, dtype.bits);
  if (dtype.is_vector()) about += fmt::format(", in a vector of {} lanes", dtype.lanes);
  if (dtype.is_int() && dtype.has_one_lane()) {
    const bool is_signed = dtype.code == DTypeCode::Int;
    const auto most = ~uint64_t{0} >> (64 - dtype.bits + (is_signed ? 1 : 0));
    about +=
        is_signed ? fmt::format(", from -{} to {}", most + 1, most) : fmt::format(", from 0 to {}", most);
  }
  if (dtype.is_float() && dtype.has_one_lane()) {
    const FloatFormat format = float_format(dtype);
    about += fmt::format(", {} of them for the exponent and {} for the fraction", format.exponent_bits,
                         format.fraction_bits);
  }
  if (dtype.is_narrow_float()) about += ". It is computed with in float32 and rounded when it is stored";
  return about + ".";
}

class Describer {
 public:
  Describer(Session& session, ModuleId module, std::string_view name)
      : session_(session), module_(module), name_(name) {}

  std::optional<Description> run() {
    if (name_.empty()) return std::nullopt;
    if (name_[0] == '%') return variable();
    if (name_[0] == '@') return global();
    if (auto found = declared_name()) return found;
    if (auto found = built_in()) return found;
    return diagnostic();
  }

 private:
  Description about(DescribedKind kind, std::string signature, std::string documentation) const {
    return {std::string(name_), kind, std::move(signature), std::move(documentation), std::nullopt};
  }

  Description declared(DescribedKind kind, DeclarationId id, std::string signature) {
    Description found = about(kind, std::move(signature), session_.doc(id));
    while (found.documentation.ends_with('\n')) found.documentation.pop_back();
    found.declared = {session_.path(session_.info(id).source), session_.range_of(id),
                      std::string(session_.text_of(id))};
    return found;
  }

  std::optional<Description> variable() {
    const DeclarationId statement = session_.find_variable(module_, name_.substr(1));
    if (!statement) return std::nullopt;
    const TopLevelVariable* variable = session_.statement_variable(statement, name_.substr(1));
    std::string type = !variable               ? ""
                       : variable->scheme.type ? to_string(variable->scheme)
                                               : to_string(variable->variable->type);
    return declared(DescribedKind::Variable, statement,
                    type.empty() ? std::string(name_) : fmt::format("{}: {}", name_, type));
  }

  std::optional<Description> global() {
    if (const DeclarationId id = session_.find_definition(module_, name_.substr(1))) {
      Description found = declared(DescribedKind::Definition, id, session_.signature(id));
      // Omitted types are shown as inferred.
      const bool all_written = session_.scope(module_).annotations(name_.substr(1)) != nullptr;
      const Scheme* scheme = all_written ? nullptr : session_.scheme(module_, name_.substr(1));
      if (scheme && !contains_error(scheme->type))
        found.signature = fmt::format("{}: {}", name_, to_string(*scheme));
      return found;
    }
    const DeclarationId id = session_.find_static(module_, name_.substr(1));
    if (!id) return std::nullopt;
    return declared(DescribedKind::Static, id, "static " + signature_line(session_.text_of(id)).text);
  }

  std::optional<Description> declared_name() {
    if (const DeclarationId id = session_.find_operator(module_, name_))
      return declared(DescribedKind::Operator, id, session_.signature(id));
    if (const DeclarationId id = session_.find_constructor(module_, name_); id && !find_type_of_name()) {
      const DataDefinition* data = session_.scope(module_).data_of_constructor(name_);
      const DataConstructor* constructor = data ? quern::find_constructor(*data, name_) : nullptr;
      return declared(DescribedKind::Constructor, id,
                      constructor ? constructor_line(name_, *data, *constructor).text : std::string(name_));
    }
    if (const DeclarationId id = find_type_of_name())
      return declared(DescribedKind::Type, id, std::string(session_.text_of(id)));
    if (const std::string op = session_.find_infix(module_, name_); !op.empty())
      if (const DeclarationId id = session_.find_operator(module_, op))
        return declared(DescribedKind::Operator, id, session_.signature(id));
    for (auto& [alias, id] : session_.import_names(module_))
      if (alias == name_) return declared(DescribedKind::Module, id, std::string(session_.text_of(id)));
    return std::nullopt;
  }
  DeclarationId find_type_of_name() { return session_.find_type(module_, name_); }

  std::optional<Description> built_in() {
    if (const Word* word = find_word(name_)) {
      std::string text(word->about);
      if (!word->example.empty()) text += "\n\n" + example_of(word->example);
      return about(DescribedKind::Keyword, std::string(word->form), std::move(text));
    }
    if (const auto dtype = parse_dtype(name_))
      return about(DescribedKind::DType, std::string(name_), about_dtype(*dtype));
    if (const auto primitive = loops::find_primitive(name_)) {
      const loops::PrimitiveInfo& info = loops::info(*primitive);
      return about(DescribedKind::Primitive, std::string(info.form), std::string(info.does));
    }
    if (const auto op = find_scalar_op(name_))
      return about(DescribedKind::Function, scalar_form(*op),
                   "A function of single elements, for index expressions.");
    if (find_static_builtin(name_))
      return about(DescribedKind::Static, fmt::format("{}(…)", name_),
                   "A function of the compile-time language: on dims, lists and dtypes.");
    return std::nullopt;
  }

  std::optional<Description> diagnostic() {
    const auto kind = kind_of_code(name_);
    if (!kind) return std::nullopt;
    Description found =
        about(DescribedKind::Diagnostic, fmt::format("{}: {}", code_of(*kind), title_of(*kind)),
              std::string(explanation_of(*kind)));
    found.name = code_of(*kind);
    return found;
  }

  Session& session_;
  ModuleId module_;
  std::string_view name_;
};

// All names with the same sigil that may have been meant.
std::vector<std::string> known_names_like(Session& session, ModuleId module, char sigil) {
  Scope& scope = session.scope(module);
  std::vector<std::string> names;
  if (sigil == '%') {
    for (const DeclarationId id : session.statements_of_module(module))
      for_each_name(session.info(id).name,
                    [&](std::string_view name) { names.push_back("%" + std::string(name)); });
    return names;
  }
  if (sigil == '@') {
    for (const std::string& name : scope.names(Scope::Names::Globals)) names.push_back("@" + name);
    for (const std::string& name : session.static_functions(module)) names.push_back("@" + name);
    return names;
  }
  for (const auto kind : {Scope::Names::Operators, Scope::Names::Constructors, Scope::Names::Types})
    std::ranges::move(scope.names(kind), std::back_inserter(names));
  for (const Word& word : words()) names.emplace_back(word.text);
  return names;
}

}  // namespace

std::string_view to_string(DescribedKind kind) {
  switch (kind) {
    case DescribedKind::Variable: return "variable";
    case DescribedKind::Definition: return "definition";
    case DescribedKind::Static: return "compile-time function";
    case DescribedKind::Operator: return "operator";
    case DescribedKind::Constructor: return "constructor";
    case DescribedKind::Type: return "type";
    case DescribedKind::DType: return "dtype";
    case DescribedKind::Keyword: return "word";
    case DescribedKind::Function: return "scalar function";
    case DescribedKind::Primitive: return "schedule primitive";
    case DescribedKind::Module: return "module";
    case DescribedKind::Diagnostic: return "diagnostic";
  }
  return "";
}

std::optional<Description> describe(Session& session, ModuleId module, std::string_view name) {
  return Describer(session, module, name_in(name)).run();
}

UnknownName unknown_name(Session& session, ModuleId module, std::string_view name) {
  name = name_in(name);
  UnknownName unknown{fmt::format("there is no `{}`", name), {}};
  if (name.empty()) return {"name what is to be described: `nn.dense`, `@f`, `%x`, `let`, `Q0302`", {}};
  auto add = [&](std::string meant) {
    if (describe(session, module, meant) && std::ranges::find(unknown.meant, meant) == unknown.meant.end())
      unknown.meant.push_back(std::move(meant));
  };
  const char sigil = name[0] == '%' || name[0] == '@' ? name[0] : '\0';
  const std::string_view bare = sigil ? name.substr(1) : name;
  // Names of other libraries.
  if (const ForeignName* foreign = sigil ? nullptr : find_foreign_name(name)) {
    if (!foreign->meaning.empty()) add(std::string(foreign->meaning));
    if (!foreign->remark.empty())
      unknown.message += fmt::format(": it is written otherwise here: {}", foreign->remark);
  }
  if (!sigil && has_foreign_module(name)) add(std::string(without_foreign_module(name)));
  if (!sigil)
    if (const std::string_view here = foreign_type(name); !here.empty()) add(std::string(here));
  for (std::string_view other : {"", "%", "@", "nn."})
    if (other.empty() ? sigil != '\0' : bare == name || other[0] != sigil)
      add(fmt::format("{}{}", other, bare));
  if (const auto near = did_you_mean(name, known_names_like(session, module, sigil))) add(*near);
  if (unknown.meant.empty() && unknown.message.find(": ") == std::string::npos &&
      (name[0] == 'Q' || std::isdigit(static_cast<unsigned char>(name[0]))))
    unknown.message = unknown_code(name);
  if (!unknown.meant.empty()) unknown.message += fmt::format("; did you mean `{}`?", unknown.meant[0]);
  return unknown;
}

std::string to_markdown(const Description& description) {
  std::string text;
  if (description.kind != DescribedKind::Diagnostic) text = example_of(description.signature);
  if (!description.documentation.empty()) text += (text.empty() ? "" : "\n\n") + description.documentation;
  return text;
}

}  // namespace quern::ide
