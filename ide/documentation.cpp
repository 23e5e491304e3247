#include "ide/documentation.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <sstream>

#include "frontend/infer/infer.h"
#include "frontend/parse/scanner.h"
#include "frontend/text/foreign_names.h"
#include "ide/added_source.h"
#include "passes/fusion_class.h"
#include "passes/gradient/gradient.h"

namespace quern::ide {

std::vector<DocExample> doc_examples(const std::string& doc) {
  std::vector<DocExample> all;
  std::istringstream in(doc);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      inside = !inside && line == "```relay";
      if (inside) all.emplace_back();
    } else if (inside) {
      // A line of an output may be blank.
      const bool output = line.starts_with("// ") || line == "//";
      std::string& part = output ? all.back().output : all.back().code;
      part += (output ? line.substr(std::min<size_t>(line.size(), 3)) : line) + "\n";
    }
  }
  return all;
}

namespace {

class Page {
 public:
  Page(Session& session, ModuleId module)
      : session_(session), module_(module), functions_(session.functions()) {}

  std::string of(const Session::LibraryFile& file) {
    std::string text, name = file.name.substr(file.name.rfind('/') + 1);
    for (const Piece& piece : scan(file.text).pieces)
      if (is_shown(piece))
        text += section(piece, file.text.substr(piece.range.begin, piece.range.end - piece.range.begin));
    if (text.empty()) return text;
    return fmt::format("## {}\n\n{}\n\n{}", name, about(file.text), text);
  }

 private:
  /// Operators, and the functions and types with a comment.
  static bool is_shown(const Piece& piece) {
    const bool is_def = piece.kind == PieceKind::Def;
    if (piece.kind == PieceKind::Op || (is_def && !piece.name.starts_with("@"))) return true;
    return (is_def || piece.kind == PieceKind::Type) && !piece.doc.empty();
  }

  /// The first paragraph of the comment that a file begins with.
  static std::string about(const std::string& text) {
    std::string paragraph;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && line.starts_with("// ");)
      paragraph += (paragraph.empty() ? "" : " ") + line.substr(3);
    return paragraph;
  }

  std::string section(const Piece& piece, const std::string& declaration) {
    std::string doc = piece.doc, derived = derived_of(piece);
    while (doc.ends_with('\n')) doc.pop_back();
    return fmt::format("### {}\n\n```quern\n{}\n```\n\n{}\n\n{}{}", piece.name, signature(declaration), doc,
                       derived, derived.empty() ? "" : "\n");
  }

  // The text up to the body.
  std::string signature(const std::string& declaration) {
    SourceId source = session_.add_source(session_.make_module(), "declaration.relay", declaration);
    std::string head = declaration;
    for (auto& [id, tree] : session_.trees(source))
      if (SyntaxPtr bodies = tree.root->children.size() > 4 && !tree.root->is(SyntaxKind::TypeDecl)
                                 ? tree.root->child(4)
                                 : nullptr)
        if (uint32_t end = session_.range_of({{id, bodies->id}, {}}).begin; end > 0)
          head.resize(std::min<size_t>(end, head.size()));
    while (!head.empty() && std::isspace(static_cast<unsigned char>(head.back()))) head.pop_back();
    return head;
  }

  // The call of an operator in a text, typed; null where there is none.
  const OpInstance* instance_in(const std::string& code, const std::string& op) {
    const AddedSource source(session_, module_, "example.relay", code);
    const OpInstance* found = nullptr;
    if (!has_errors(session_.check(source.id())))
      for (DeclarationId id : session_.statements(source.id())) {
        std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
          auto* call = as<OpCallExpr>(e);
          if (call && call->instance->name == op && !found) {
            kept_.push_back(functions_.instance(*call->instance));
            found = kept_.back().get();
          }
          for_each_child(e, walk);
        };
        if (ExprPtr body = session_.inferred_statement(id).definition.body) walk(body);
      }
    return found && found->function ? found : nullptr;
  }

  // The call with the integers in some arguments before its attributes as floats: bit k of `which` selects argument k.
  static std::string with_floats(const std::string& code, uint32_t which) {
    std::string out;
    size_t attributes = std::min(code.find('='), code.size());
    int depth = 0;
    uint32_t argument = 1;
    for (size_t i = 0; i < code.size(); ++i) {
      if (i >= attributes) return out + code.substr(i);
      out += code[i];
      depth += (code[i] == '(' || code[i] == '[') - (code[i] == ')' || code[i] == ']');
      if (code[i] == ',' && depth == 1) argument <<= 1;
      if (!(which & argument)) continue;
      bool digit = std::isdigit(static_cast<unsigned char>(code[i]));
      bool ends = i + 1 < code.size() && (code[i + 1] == ',' || code[i + 1] == ']' || code[i + 1] == ')');
      bool number = true;
      for (size_t k = i;
           k > 0 && (std::isalnum(static_cast<unsigned char>(code[k])) || code[k] == '.' || code[k] == '=');
           --k)
        number = number && std::isdigit(static_cast<unsigned char>(code[k]));
      if (digit && ends && number) out += ".0";
    }
    return out;
  }

  // Whether, and how, the operator is differentiated.
  std::optional<std::string> gradient_of(const OpInstance& instance) {
    auto* own = as<IntrinsicExpr>(instance.function->body);
    if (own && own->intrinsic == IntrinsicKind::WithGradient) return "its own (a `gradient` clause)";
    bool floats =
        std::ranges::any_of(instance.function->params, [](const Variable* p) { return has_floats(p->type); });
    if (!floats || !has_floats(instance.function->body->type)) return std::nullopt;
    Arena arena;
    const std::vector<ExprPtr> function{instance.function};
    const auto* gradient = arena.make<IntrinsicExpr>(Expr{ExprKind::Intrinsic, instance.function->type, {}},
                                                     IntrinsicKind::VectorJacobian, arena.copy(function),
                                                     std::span<const std::string_view>());
    for (const GradientProblem& problem :
         gradient_problems(functions_, gradient, [](Origin) { return true; })) {
      if (!problem.parts.empty()) return "none, as " + problem.parts[0].what;
      return "derived, added up by a `scatter`, as " + problem.scattered[0].reason;
    }
    return "derived";
  }

  std::string derived_of(const Piece& piece) {
    std::string fusion;
    std::optional<std::string> gradient;
    // Operands may be indices, which have to stay integers.
    constexpr uint32_t kEachOfFour = 15;
    for (const DocExample& example : doc_examples(piece.doc))
      for (uint32_t left = 0; left <= kEachOfFour && !gradient; ++left) {
        std::string code = left == 0 ? example.code : with_floats(example.code, kEachOfFour + 1 - left);
        const OpInstance* instance = instance_in(code, piece.name);
        if (!instance) continue;
        if (fusion.empty()) fusion = to_string(fusion_class(functions_, instance->function->body));
        if (!gradient) gradient = gradient_of(*instance);
      }
    if (fusion.empty()) return "";
    return fmt::format("Fusion: {}. Gradient: {}.\n", fusion,
                       gradient.value_or("none, as it is not of floats"));
  }

  Session& session_;
  ModuleId module_;
  FunctionSource& functions_;
  std::vector<std::shared_ptr<const OpInstance>> kept_;
};

}  // namespace

std::string documentation(Session& session, ModuleId module, const std::vector<Session::LibraryFile>& files) {
  Page page(session, module);
  std::string text;
  for (const Session::LibraryFile& file : files) text += page.of(file);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

namespace {

// The anchor that Markdown gives a heading: `nn.conv2d` is at `#nnconv2d`.
std::string anchor_of(std::string name) {
  std::erase(name, '.');
  return name;
}

std::string row_of(const ForeignName& name) {
  const std::string link = name.meaning.empty()
                               ? ""
                               : fmt::format("[{}](#{})", name.meaning, anchor_of(std::string(name.meaning)));
  const bool is_absent = name.meaning.empty() && name.remark.empty();
  return fmt::format("| `{}` | {} | {} |\n", name.name, link,
                     is_absent ? "nothing computes it" : name.remark);
}

}  // namespace

std::string library_page(Session& session, ModuleId module, const std::vector<Session::LibraryFile>& files) {
  std::string page =
      "# The operators and functions of the library\n\n" + documentation(session, module, files);
  page +=
      "\n## Names of other libraries\n\n### PyTorch, NumPy, JAX and TVM\n\n"
      "What is not listed has its name here too. A name with its module is for that library alone. ONNX's "
      "operators are "
      "in [onnx_operators.md](onnx_operators.md).\n\n"
      "| there | here | written |\n|---|---|---|\n";
  for (const ForeignName& name : foreign_names()) page += row_of(name);
  return page;
}

}  // namespace quern::ide
