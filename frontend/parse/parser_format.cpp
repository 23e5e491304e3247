// Format strings: the strings of `print`, with the expressions in their braces.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frontend/parse/parser_build.h"
#include "ir/value/value_style.h"

namespace quern {

namespace {

class FormatString {
 public:
  FormatString(NodeMaker& make, std::string_view text, const InnerParser& parse,
               std::vector<SyntaxProblem>& problems)
      : make_(make), text_(text), parse_(parse), problems_(problems) {}

  NodeMaker::Nodes parts(Range inside) {
    NodeMaker::Nodes nodes;
    for (const FormatPart& part : format_parts(text_, inside))
      if (SyntaxPtr node = this->node(part)) nodes.push_back(node);
    return nodes;
  }

 private:
  SyntaxPtr node(const FormatPart& part) {
    switch (part.kind) {
      case FormatPart::Kind::Text:
        return make_.make_at(part.range, SyntaxKind::String, label_of(in_text(part.range)), {});
      case FormatPart::Kind::Value: return value(part);
      case FormatPart::Kind::Unclosed:
        problem(
            {part.range.begin, part.range.begin + 1},
            "this `{` is never closed: a value ends with `}`, as in `\"{%x}\"`; a brace that is printed is "
            "written twice, `{{`");
        return nullptr;
      case FormatPart::Kind::Stray:
        problem(part.range, "this `}` closes nothing; a brace that is printed is written twice, `}}`");
        return nullptr;
    }
    return nullptr;
  }

  SyntaxPtr value(const FormatPart& part) {
    SyntaxPtr expression = this->expression(part);
    std::string_view format = part.format ? in_text(*part.format) : "";
    if (!with_format({}, format)) {
      problem(
          *part.format,
          fmt::format("`{}` is no format: behind the `:` stand, each where it is wanted, `<`, `^` or `>`, a "
                      "width, `.` with a number of digits, and `e`, `f` or `g`, as in `{{%x:8}}`, "
                      "`{{%x:.4}}` and `{{%x:<10.2f}}`",
                      format));
      format = "";
    }
    return make_.make_at(part.range, SyntaxKind::Formatted, format, {expression});
  }

  std::string_view in_text(Range range) const { return text_.substr(range.begin, range.end - range.begin); }
  void problem(Range range, std::string message) {
    problems_.push_back({DiagnosticKind::FormatString, range, std::move(message)});
  }
  SyntaxPtr failed(Range range) { return make_.make_at(range, SyntaxKind::Error, "", {}); }

  // Parses the expression in place.
  SyntaxPtr expression(const FormatPart& part) {
    const Range range = part.expression;
    if (in_text(range).find_first_not_of(" \t") == std::string_view::npos) {
      problem(
          part.range,
          "no value stands in these braces: write it there, as in `\"{%x}\"`; braces that are printed are "
          "written twice, `{{}}`");
      return failed(range);
    }
    const Unescaped inside = unescaped(in_text(range));
    ParseOutcome inner = parse_(inside.text);
    const auto place = [&](Range r) {
      const auto at = [&](uint32_t p) {
        return range.begin + inside.places[std::min<size_t>(p, inside.places.size() - 1)];
      };
      return Range{at(r.begin), at(r.end)};
    };
    for (SyntaxProblem& p : inner.problems) {
      for_each_range(p, [&](Range& r) { r = place(r); });
      for (Fix& fix : p.fixes)
        for (Edit& edit : fix.edits) edit.text = as_in_string(edit.text);
      problems_.push_back(std::move(p));
    }
    SyntaxPtr root = inner.tree.root;
    if (!root->is(SyntaxKind::Error) && !is_expression(root)) {
      problem(range,
              "an expression stands in the braces of a format string; a statement stands before the `print`");
      return failed(range);
    }
    return copy(root, inner.spans, place);
  }
  static bool is_expression(SyntaxPtr root) {
    return root->kind >= SyntaxKind::Block && root->kind <= SyntaxKind::Comprehension;
  }
  template <class Place>
  SyntaxPtr copy(SyntaxPtr node, const std::vector<Range>& spans, const Place& place) {
    if (!node) return nullptr;
    NodeMaker::Nodes children;
    for (SyntaxPtr c : node->children) children.push_back(copy(c, spans, place));
    return make_.make_at(place(spans[node->id]), node->kind, node->text, children);
  }

  NodeMaker& make_;
  std::string_view text_;
  const InnerParser& parse_;
  std::vector<SyntaxProblem>& problems_;
};

}  // namespace

SyntaxPtr build_printed(NodeMaker& make, SyntaxPtr argument, std::string_view text, const InnerParser& parse,
                        std::vector<SyntaxProblem>& problems) {
  const Range token = make.made[argument->id].second;
  // A token inserted by recovery has no quotes.
  if (!argument->is(SyntaxKind::String) || token.end < token.begin + 2) return argument;
  const NodeMaker::Nodes parts =
      FormatString(make, text, parse, problems).parts({token.begin + 1, token.end - 1});
  const bool is_label =
      std::ranges::all_of(parts, [](SyntaxPtr part) { return part->is(SyntaxKind::String); });
  if (!is_label) return make.make_at(token, SyntaxKind::FormatString, "", parts);
  // Parts are separated only by erroneous text.
  return make.make_at(token, SyntaxKind::String, parts.empty() ? "" : parts[0]->text, {});
}

}  // namespace quern
