#include "frontend/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "frontend/printer_impl.h"
#include "frontend/source.h"
#include "ir/static_value.h"
#include "ir/type.h"

namespace quern {

namespace printer_detail {

// --- layout ----------------------------------------------------------------------------------------------

namespace {

constexpr int64_t kNever = int64_t{1} << 40;  ///< the width of what does not fit on any line

struct Piece {
  DocPtr doc;
  int indent;
  bool flat;
};

void push_parts(std::vector<Piece>& pieces, const Piece& of, int indent, bool flat) {
  for (auto part = of.doc->parts.rbegin(); part != of.doc->parts.rend(); ++part)
    pieces.push_back({*part, indent, flat});
}

/// The width of what follows up to the first place for a new line, counted to `limit`.
int64_t width_after(const std::vector<Piece>& rest, int64_t limit) {
  int64_t total = 0;
  size_t left = rest.size();
  std::vector<Piece> pieces;
  while (total <= limit && (left > 0 || !pieces.empty())) {
    if (pieces.empty()) pieces.push_back(rest[--left]);
    Piece piece = pieces.back();
    pieces.pop_back();
    DocKind kind = piece.doc->kind;
    if (kind == DocKind::HardLine || (kind == DocKind::Line && !piece.flat)) return total;
    if (kind == DocKind::Text || kind == DocKind::Line) total += piece.doc->width;
    push_parts(pieces, piece, piece.indent, piece.flat);
  }
  return total;
}

}  // namespace

DocPtr Docs::text(std::string text) {
  int64_t width = count_code_points(text);
  return add({DocKind::Text, width, std::move(text)});
}
DocPtr Docs::line(std::string_view flat) {
  return add({DocKind::Line, static_cast<int64_t>(flat.size()), std::string(flat)});
}
DocPtr Docs::hard_line() { return add({DocKind::HardLine, kNever}); }
DocPtr Docs::concat(std::vector<DocPtr> parts) {
  int64_t width = 0;
  for (DocPtr part : parts) width = std::min(kNever, width + part->width);
  return add({DocKind::Concat, width, {}, std::move(parts)});
}
DocPtr Docs::indent(DocPtr part) { return add({DocKind::Indent, part->width, {}, {part}}); }
DocPtr Docs::group(DocPtr part) { return add({DocKind::Group, part->width, {}, {part}}); }

DocPtr Docs::list(std::string_view open, const std::vector<DocPtr>& items, std::string_view close) {
  if (items.empty()) return text(std::string(open) + std::string(close));
  std::vector<DocPtr> inside{line("")};
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) inside.insert(inside.end(), {text(","), line()});
    inside.push_back(items[i]);
  }
  return group(concat(
      {text(std::string(open)), indent(concat(std::move(inside))), line(""), text(std::string(close))}));
}

std::string render(DocPtr doc, int width) {
  std::string out;
  int64_t column = 0;
  std::vector<Piece> pieces{{doc, 0, false}};
  while (!pieces.empty()) {
    Piece piece = pieces.back();
    pieces.pop_back();
    switch (piece.doc->kind) {
      case DocKind::Text:
        out += piece.doc->text;
        column += piece.doc->width;
        break;
      case DocKind::Line:
      case DocKind::HardLine:
        if (piece.flat) {
          out += piece.doc->text;
          column += piece.doc->width;
        } else {
          out += '\n';
          out.append(static_cast<size_t>(piece.indent), ' ');
          column = piece.indent;
        }
        break;
      case DocKind::Concat: push_parts(pieces, piece, piece.indent, piece.flat); break;
      case DocKind::Indent: push_parts(pieces, piece, piece.indent + 2, piece.flat); break;
      case DocKind::Group: {
        int64_t room = width - column - piece.doc->width;
        bool flat = piece.flat || (room >= 0 && width_after(pieces, room) <= room);
        push_parts(pieces, piece, piece.indent, flat);
        break;
      }
    }
  }
  return out;
}

// --- expressions -----------------------------------------------------------------------------------------

Printed Printer::print(ExprPtr expr) {
  if (!expr) return {docs_.text("<error>"), Level::Postfix};
  return visit(expr, [this](const auto& e) { return node(e); });
}

DocPtr Printer::parenthesised(DocPtr doc) { return docs_.concat({docs_.text("("), doc, docs_.text(")")}); }

DocPtr Printer::at(ExprPtr expr, Level level) {
  Printed printed = print(expr);
  return printed.level < level ? parenthesised(printed.doc) : printed.doc;
}

DocPtr Printer::item(ExprPtr expr) {
  Printed printed = print(expr);
  bool ambiguous = printed.level != Level::Open && printed.level < Level::Sum;
  return ambiguous ? parenthesised(printed.doc) : printed.doc;
}

std::vector<DocPtr> Printer::items(std::span<const ExprPtr> exprs) {
  std::vector<DocPtr> docs;
  for (ExprPtr e : exprs) docs.push_back(item(e));
  return docs;
}

std::string Printer::type_text(Type type) { return to_string(names_.renamed(type)); }

/// Nothing for a type that cannot be written.
std::string Printer::annotation(Type type, std::string_view before) {
  return type && !contains_error(type) ? std::string(before) + type_text(type) : "";
}

Printed Printer::node(const VarExpr& e) { return {docs_.text("%" + names_.of(e.variable)), Level::Postfix}; }

Printed Printer::node(const GlobalExpr& e) {
  return {docs_.text(fmt::format("@{}", e.name)), Level::Postfix};
}

DocPtr Printer::attribute(const StaticValue& value, const DimMap& dims) {
  if (Dim dim = value.as_dim()) return docs_.text(dim_text(substitute(dim, dims)));
  if (ExprPtr expr = value.as_index_expr()) return item(expr);
  const StaticList* list = value.as_list();
  if (!list) return docs_.text(to_string(value));
  std::vector<DocPtr> docs;
  for (const StaticValue& v : *list) docs.push_back(attribute(v, dims));
  return docs_.list("[", docs, "]");
}

Printed Printer::node(const OpCallExpr& e) {
  const OpInstance& instance = *e.instance;
  DimMap dims;
  for (size_t i = 0; i < instance.dim_vars.size() && i < e.dims.size(); ++i)
    dims.emplace(instance.dim_vars[i], e.dims[i]);
  std::vector<DocPtr> args = items(e.args);
  for (const auto& [name, value] : instance.attributes)
    args.push_back(docs_.concat({docs_.text(name + "="), attribute(value, dims)}));
  return {docs_.list(instance.name + "(", args, ")"), Level::Postfix};
}

Printed Printer::node(const CallExpr& e) {
  DocPtr callee = at(e.callee, Level::Postfix);
  return {docs_.concat({callee, docs_.list("(", items(e.args), ")")}), Level::Postfix};
}

DocPtr Printer::signature(std::string head, const FnExpr& fn) {
  std::vector<DocPtr> params;
  for (const Variable* param : fn.params) {
    names_.bind(param);
    params.push_back(docs_.text("%" + names_.of(param) + annotation(param->type, ": ")));
  }
  bool typed = fn.type && fn.type->kind == TypeKind::Function;
  std::string result = typed ? annotation(fn.type->result(), " -> ") : "";
  return docs_.list(head + "(", params, ")" + result + " ");
}

Printed Printer::node(const FnExpr& e) {
  std::string dims;
  for (Dim var : e.dim_vars) {
    names_.bind(var);
    dims += (dims.empty() ? "[" : ", ") + names_.of(var);
  }
  std::string head =
      std::string(e.primitive ? "/* kernel */ " : "") + "fn " + (dims.empty() ? "" : dims + "]");
  DocPtr parameters = signature(std::move(head), e);
  DocPtr body = braced(e.body);
  for (const Variable* param : e.params) names_.release(param);
  for (Dim var : e.dim_vars) names_.release(var);
  return {docs_.concat({parameters, body}), Level::Primary};
}

DocPtr Printer::binding(const Binding& binding) {
  const Variable* variable = binding.variable;
  if (!variable) return docs_.concat({at(binding.value, Level::Open), docs_.text(";")});
  // A function literal sees its own name. A function's type may be over dims of its own, which only a literal
  // binds.
  bool own_name = binding.value && binding.value->kind == ExprKind::Fn;
  if (own_name) names_.bind(variable);
  DocPtr value = at(binding.value, Level::Open);
  if (!own_name) names_.bind(variable);
  std::string head = "%" + names_.of(variable);
  if (!is_numbered(*variable)) {
    bool function = variable->type && variable->type->kind == TypeKind::Function;
    head = "let " + head + (function ? "" : annotation(variable->type, ": "));
  } else if (options_.types && variable->type) {
    head += " /* " + type_text(variable->type) + " */";
  }
  return docs_.concat({docs_.text(head + " = "), value, docs_.text(";")});
}

DocPtr Printer::contents(ExprPtr expr) {
  auto* block = as<BlockExpr>(expr);
  if (!block) return at(expr, Level::Open);
  std::vector<DocPtr> lines;
  for (const Binding& b : block->bindings) {
    lines.push_back(binding(b));
    lines.push_back(docs_.hard_line());
  }
  lines.push_back(at(block->result, Level::Open));
  for (const Binding& b : block->bindings)
    if (b.variable) names_.release(b.variable);
  return docs_.concat(std::move(lines));
}

DocPtr Printer::braced(ExprPtr expr) {
  DocPtr inside = docs_.indent(docs_.concat({docs_.line(), contents(expr)}));
  return docs_.group(docs_.concat({docs_.text("{"), inside, docs_.line(), docs_.text("}")}));
}

Printed Printer::node(const BlockExpr& e) { return {braced(&e), Level::Primary}; }

DocPtr Printer::if_chain(const IfExpr& e) {
  std::vector<DocPtr> parts;
  const IfExpr* step = &e;
  for (bool more = true; more;) {
    DocPtr then_arm = docs_.indent(docs_.concat({docs_.line(), contents(step->then_arm)}));
    parts.insert(parts.end(), {docs_.text("if ("), at(step->condition, Level::Open), docs_.text(") {"),
                               then_arm, docs_.line(), docs_.text("} else ")});
    const IfExpr* chained = as<IfExpr>(step->else_arm);
    more = chained != nullptr;
    if (more) step = chained;
  }
  DocPtr else_arm = docs_.indent(docs_.concat({docs_.line(), contents(step->else_arm)}));
  parts.insert(parts.end(), {docs_.text("{"), else_arm, docs_.line(), docs_.text("}")});
  return docs_.concat(std::move(parts));
}

Printed Printer::node(const IfExpr& e) { return {docs_.group(if_chain(e)), Level::Primary}; }

Printed Printer::node(const TupleExpr& e) {
  return {docs_.list("(", items(e.fields), e.fields.size() == 1 ? ",)" : ")"), Level::Postfix};
}

Printed Printer::node(const FieldExpr& e) {
  DocPtr tuple = at(e.tuple, Level::Postfix);
  if (e.name.empty()) return {docs_.concat({tuple, docs_.text(fmt::format(".{}", e.index))}), Level::Postfix};
  // `@f.name` is one dotted name.
  if (e.tuple && e.tuple->kind == ExprKind::Global) tuple = parenthesised(tuple);
  return {docs_.concat({tuple, docs_.text(fmt::format(".{}", e.name))}), Level::Postfix};
}

Printed Printer::node(const ConstructExpr& e) {
  std::string name(e.constructor);
  if (e.fields.empty()) return {docs_.text(std::move(name)), Level::Postfix};
  return {docs_.list(name + "(", items(e.fields), ")"), Level::Postfix};
}

Printed Printer::node(const IntrinsicExpr& e) {
  auto quoted = [this](std::string_view text) {
    return docs_.text(to_string(StaticValue(std::string(text))));
  };
  std::vector<DocPtr> args;
  switch (e.intrinsic) {
    case IntrinsicKind::Print:
      for (size_t i = 0; i < e.args.size(); ++i)
        args.push_back(e.args[i] ? item(e.args[i]) : quoted(e.texts[i]));
      return {docs_.list("print(", args, ")"), Level::Postfix};
    case IntrinsicKind::Load:
      for (std::string_view text : e.texts)
        if (args.empty() || !text.empty()) args.push_back(quoted(text));
      return {docs_.list("load(", args, ")"), Level::Postfix};
    case IntrinsicKind::Save:
      for (std::string_view text : e.texts) args.push_back(quoted(text));
      for (ExprPtr arg : e.args) args.push_back(item(arg));
      return {docs_.list("save(", args, ")"), Level::Postfix};
  }
  return {docs_.text("<error>"), Level::Postfix};
}

Printed Printer::node(const ErrorExpr&) { return {docs_.text("<error>"), Level::Postfix}; }

// --- whole texts -----------------------------------------------------------------------------------------

std::string Printer::expression(ExprPtr expr) {
  // What is free names something outside, so it comes first to its name.
  if (expr)
    for (const Variable* variable : free_variables(expr)) names_.bind(variable);
  return render(at(expr, Level::Open), options_.width);
}

std::string Printer::definition(const Definition& definition) {
  auto* fn = as<FnExpr>(definition.body);
  if (!fn) {
    std::string value = expression(definition.body);
    if (definition.name.empty() || !definition.body) return value;
    bool graph = std::ranges::all_of(definition.name, [](unsigned char c) { return std::isdigit(c); });
    return graph ? fmt::format("%{} = {}", definition.name, value)
                 : fmt::format("let %{}{} = {}", definition.name, annotation(definition.scheme.type, ": "),
                               value);
  }
  for (const Variable* variable : free_variables(fn)) names_.bind(variable);
  std::vector<Dim> dims = definition.scheme.dim_vars;
  for (Dim var : fn->dim_vars)
    if (std::ranges::find(dims, var) == dims.end()) dims.push_back(var);
  std::vector<std::string> general;
  for (Dim var : dims) {
    names_.bind(var);
    general.push_back(names_.of(var));
  }
  for (Type var : definition.scheme.type_vars) {
    names_.bind_type(var);
    general.push_back(names_.of_type(var));
  }
  std::string vars = general.empty() ? "" : fmt::format("[{}]", fmt::join(general, ", "));
  DocPtr head = signature(fmt::format("def @{}{}", definition.name, vars), *fn);
  DocPtr body = docs_.indent(docs_.concat({docs_.hard_line(), contents(fn->body)}));
  DocPtr text = docs_.concat({head, docs_.text("{"), body, docs_.hard_line(), docs_.text("}")});
  return render(text, options_.width);
}

}  // namespace printer_detail

std::string print(ExprPtr expr, const PrintOptions& options) {
  return printer_detail::Printer(options).expression(expr);
}

std::string print(const Definition& definition, const PrintOptions& options) {
  return printer_detail::Printer(options).definition(definition);
}

}  // namespace quern
