// A source's typed declarations as text.

#include <fmt/format.h>

#include "frontend/format/format.h"
#include "frontend/print/printer.h"
#include "session/db/database.h"
#include "session/session.h"

namespace quern {

namespace {

std::string doc_comment(const std::string& doc) {
  std::string out;
  for (size_t begin = 0; begin < doc.size();) {
    size_t end = std::min(doc.find('\n', begin), doc.size());
    out += (end > begin ? "/// " : "///") + doc.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return out;
}

using OtherNames = std::unordered_map<const Variable*, std::string>;

/// New names for variables that shadow one which a later statement still uses: a copy of a polymorphic
/// function literal sees what the literal saw. `statements` are in order.
OtherNames names_beside(const std::vector<const Inferred*>& statements) {
  std::unordered_map<const Variable*, size_t> last_use;
  for (size_t i = 0; i < statements.size(); ++i)
    if (ExprPtr body = statements[i]->definition.body)
      for (const Variable* variable : free_variables(body)) last_use[variable] = i;
  OtherNames names;
  std::unordered_map<std::string, const Variable*> current;
  for (size_t i = 0; i < statements.size(); ++i) {
    auto bind = [&](const Variable* variable) {
      std::string name(variable->name);
      auto is_used = [&](const std::string& taken) {
        auto found = current.find(taken);
        if (found == current.end()) return false;
        auto use = last_use.find(found->second);
        return use != last_use.end() && use->second > i;
      };
      for (size_t k = 1; is_used(name); ++k) name = fmt::format("{}_{}", variable->name, k);
      current[name] = variable;
      if (name != variable->name) names.emplace(variable, name);
    };
    if (statements[i]->variable) bind(statements[i]->variable);
    if (statements[i]->pattern) for_each_variable(statements[i]->pattern, bind);
  }
  return names;
}

/// How a module spells imported names.
class ModuleSpelling final : public Spelling {
 public:
  ModuleSpelling(Database& db, ModuleId module) : db_(db), module_(module) {}

  std::string qualifier(const OpInstance& op) override {
    return op.declaration ? prefix_of(db_.declarations[op.declaration].module).value_or("") : "";
  }
  std::string qualifier(const GlobalExpr& use) override {
    return request_of(use) ? prefix_of(use.module).value_or("") : "";
  }
  std::optional<std::string> qualifier(Type data) override {
    const DataDefinition* found = db_.data_of(module_, data);
    return found ? prefix_of(db_.declarations[found->declaration].module) : std::nullopt;
  }
  std::shared_ptr<const OpInstance> attributes(const GlobalExpr& use) override {
    const std::optional<InstanceRequest> request = request_of(use);
    return request && !request->params ? instance_head(*request) : nullptr;
  }

 private:
  std::optional<InstanceRequest> request_of(const GlobalExpr& use) {
    return db_.request_of(use.module, use.name);
  }
  /// Nothing for a module whose names are not visible here.
  std::optional<std::string> prefix_of(ModuleId module) {
    if (module == module_ || module == Database::kLibrary) return "";
    for (const Import& import : db_.imports.get(module_))
      if (import.module == module && import.brings_names())
        return import.alias.empty() ? "" : import.alias + ".";
    return std::nullopt;
  }

  Database& db_;
  ModuleId module_;
};

}  // namespace

TypedText Session::typed_text(const Definition& definition, ModuleId module) {
  TypedText result;
  ModuleSpelling spelling(*db_, module);
  PrintOptions options;
  options.constants = &result.constants;
  options.spelling = &spelling;
  result.text = print(definition, options);
  return result;
}

TypedText Session::typed_text(SourceId source) {
  LineOrigins origins;
  return typed_text(source, origins);
}

TypedText Session::typed_text(SourceId source, LineOrigins& origins) {
  TypedText result;
  PrintOptions options;
  options.constants = &result.constants;
  options.slash_names = db_->layouts[source]->scan.slash_names;
  const std::string header = options.slash_names ? "#[version = \"0.0.5\"]\n" : "";
  result.text = header;
  ModuleSpelling spelling(*db_, db_->sources[source].module);
  options.spelling = &spelling;
  const Layout& layout = *db_->layouts[source];
  std::vector<const Inferred*> statements;
  for (size_t i = 0; i < layout.ids.size(); ++i)
    if (layout.scan.pieces[i].kind == PieceKind::Statement)
      statements.push_back(&inferred_statement(layout.ids[i]));
  OtherNames other_names = names_beside(statements);
  options.other_names = &other_names;
  auto piece_text = [&](size_t i) {
    Range range = layout.scan.pieces[i].range;
    return std::string_view(*layout.text).substr(range.begin, range.end - range.begin);
  };
  size_t next_statement = 0;
  bool after_statement = false;
  uint32_t line = count_line_ends(header);
  for (size_t i = 0; i < layout.ids.size(); ++i) {
    const Piece& piece = layout.scan.pieces[i];
    const Definition* definition = nullptr;
    bool statement = piece.kind == PieceKind::Statement;
    const Inferred* inferred = statement ? statements[next_statement++] : nullptr;
    if (inferred) definition = &inferred->definition;
    if (piece.kind == PieceKind::Def && piece.name.starts_with("@"))
      definition = this->definition(info(layout.ids[i]).module, piece.name.substr(1));
    const size_t begin = result.text.size();
    if (i > 0 && !(statement && after_statement)) result.text += "\n";
    result.text += doc_comment(piece.doc);
    const uint32_t first = line + count_line_ends(std::string_view(result.text).substr(begin));
    LineOrigins of_piece;
    if (inferred && inferred->variable && !definition->body && piece_text(i).starts_with("free_var")) {
      result.text += print_input(*definition, *inferred->variable, options) + ";\n";
    } else if (definition && definition->body) {
      std::string text =
          statement ? print_statement(*definition, {inferred->variable, inferred->pattern}, options, of_piece)
                    : print(*definition, options, of_piece);
      // Behind a declaration a `{` would be read as a part of it.
      const bool in_brackets = statement && !after_statement && i > 0 && text.starts_with("{");
      result.text.append(in_brackets ? "(" : "").append(text).append(in_brackets ? ")" : "");
      result.text += statement ? ";\n" : "\n";
    } else {
      auto formatted = quern::format(header + std::string(piece_text(i)));
      result.text += formatted ? formatted->substr(header.size()) : std::string(piece_text(i)) + "\n";
    }
    line += count_line_ends(std::string_view(result.text).substr(begin));
    if (of_piece.empty() && line > first) of_piece.push_back({0, line - first - 1, {layout.ids[i], 0}});
    append(origins, first, of_piece);
    after_statement = statement;
  }
  return result;
}

}  // namespace quern
