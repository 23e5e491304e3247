#include "frontend/signature/check_form.h"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "ir/type/dtype.h"

namespace quern {

namespace {

class Duplicates {
 public:
  Duplicates(uint32_t id, Diagnostics& diagnostics) : id_(id), diagnostics_(diagnostics) {}

  void visit(SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::Params)) check(s->children, DiagnosticKind::DuplicateParameter, "the parameter");
    if (s->is(SyntaxKind::TypeParams))
      check(s->children, DiagnosticKind::DuplicateParameter, "the parameter");
    if (s->is(SyntaxKind::Constructor)) check(s->children, DiagnosticKind::DuplicateParameter, "the field");
    if (s->is(SyntaxKind::Binders)) check(s->children, DiagnosticKind::DuplicateBinding, "the index");
    if (s->is(SyntaxKind::TypeDecl) || s->is(SyntaxKind::ExternType) || s->is(SyntaxKind::TypeAlias))
      no_dtype(s, "a type");
    if (s->is(SyntaxKind::TypeParams))
      for (SyntaxPtr name : s->children) no_dtype(name, "a parameter");
    if (s->is(SyntaxKind::TypeDecl))
      check(s->children.subspan(1), DiagnosticKind::DuplicateConstructor, "the constructor");
    for (SyntaxPtr c : s->children) visit(c);
  }

 private:
  void check(std::span<const SyntaxPtr> list, DiagnosticKind kind, std::string_view what) {
    // A tensor and an attribute of one name are told apart by the sigil.
    std::map<std::pair<bool, std::string_view>, SyntaxPtr> seen;
    for (SyntaxPtr s : list) {
      if (!s || s->text.empty() || s->text == "_") continue;
      auto [first, fresh] = seen.try_emplace({s->is(SyntaxKind::TensorParam), s->text}, s);
      if (fresh) continue;
      std::string sigil = s->is(SyntaxKind::TensorParam) ? "%" : "";
      diagnostics_.push_back({kind,
                              {{id_, s->id}, {}},
                              fmt::format("{} `{}{}` is declared twice", what, sigil, s->text),
                              {{Place{{id_, first->second->id}, {}}, "it is declared here first"}}});
    }
  }
  // Shadowing a dtype's name is an error.
  void no_dtype(SyntaxPtr declared, std::string_view what) {
    if (!parse_dtype(declared->text)) return;
    diagnostics_.push_back({DiagnosticKind::DuplicateDefinition,
                            {{id_, declared->id}, {}},
                            fmt::format("`{}` is a dtype; {} has another name", declared->text, what),
                            {}});
  }

  uint32_t id_;
  Diagnostics& diagnostics_;
};

class Unused {
 public:
  Unused(uint32_t id, Diagnostics& diagnostics) : id_(id), diagnostics_(diagnostics) {}

  void visit(SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::Local)) return read(s->text);
    if (s->is(SyntaxKind::Block)) return block(s);
    size_t depth = bound_.size();
    // Parameters and patterns shadow outer names, but are not reported themselves.
    if (s->is(SyntaxKind::Fn) || s->is(SyntaxKind::Arm)) hide(s->child(s->is(SyntaxKind::Fn) ? 1 : 0));
    for (SyntaxPtr c : s->children) visit(c);
    bound_.resize(depth);
  }

 private:
  struct Bound {
    std::string_view name;
    SyntaxPtr let;  ///< null if not reported
    bool read = false;
  };

  void read(std::string_view name) {
    for (auto it = bound_.rbegin(); it != bound_.rend(); ++it)
      if (it->name == name) {
        it->read = true;
        return;
      }
  }
  void hide(SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::TensorParam) || s->is(SyntaxKind::VariablePattern))
      bound_.push_back({s->text, nullptr});
    for (SyntaxPtr c : s->children) hide(c);
  }
  void block(SyntaxPtr s) {
    size_t depth = bound_.size();
    for (SyntaxPtr statement : s->children) {
      bool let = statement->is(SyntaxKind::Let);
      bool own = let && statement->child(1) && statement->child(1)->is(SyntaxKind::Fn);
      if (own) bound_.push_back({statement->text, statement});
      if (let) {
        visit(statement->child(1));
      } else {
        visit(statement);
      }
      if (let && !own) bound_.push_back({statement->text, statement});
      if (statement->is(SyntaxKind::LetPattern))
        for (SyntaxPtr binder : binders_of(statement)) bound_.push_back({binder->text, binder});
    }
    for (size_t i = depth; i < bound_.size(); ++i) report(bound_[i]);
    bound_.resize(depth);
  }
  void report(const Bound& b) {
    if (!b.let || b.read || b.name.starts_with("_")) return;
    diagnostics_.push_back({DiagnosticKind::UnusedVariable,
                            {{id_, b.let->id}, {}},
                            fmt::format("`%{0}` is never read; call it `%_{0}` if that is meant", b.name),
                            {}});
  }

  uint32_t id_;
  Diagnostics& diagnostics_;
  std::vector<Bound> bound_;
};

}  // namespace

Diagnostics check_duplicates(SyntaxPtr declaration, uint32_t id) {
  Diagnostics diagnostics;
  Duplicates(id, diagnostics).visit(declaration);
  return diagnostics;
}

Diagnostics check_unused(SyntaxPtr declaration, uint32_t id) {
  Diagnostics diagnostics;
  Unused(id, diagnostics).visit(declaration);
  return diagnostics;
}

}  // namespace quern
