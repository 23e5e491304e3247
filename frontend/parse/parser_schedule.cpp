// The schedules of a parse tree.

#include "frontend/parse/parser_build.h"

namespace quern {

namespace {

using P = quern_grammar::QuernParser;
using Nodes = NodeMaker::Nodes;

class ScheduleBuilder {
 public:
  using Part = NodeMaker::Part;

  explicit ScheduleBuilder(NodeMaker& nodes) : nodes_(nodes) {}

  SyntaxPtr step(Part c) {
    const std::vector<Part> names = c->rules(P::RuleName);
    if (names.empty()) return nodes_.error(c);
    Nodes makes;
    for (size_t i = 0; i + 1 < names.size(); ++i) makes.push_back(nodes_.name(names[i]));
    SyntaxPtr primitive = nodes_.name(names.back());
    Nodes children{nodes_.list(names.front(), makes.empty() ? nullptr : names[names.size() - 2],
                               SyntaxKind::ScheduleMakes, makes),
                   primitive};
    for (Part g : c->rules(P::RuleScheduleGroup)) children.push_back(group(g));
    return nodes_.make(c, SyntaxKind::ScheduleStep, primitive->text, children);
  }

 private:
  SyntaxPtr group(Part c) {
    Nodes arguments;
    for (Part a : c->rules(P::RuleScheduleArgument)) arguments.push_back(argument(a));
    return nodes_.list(c, arguments.empty() ? nullptr : c, SyntaxKind::ScheduleGroup, arguments);
  }

  SyntaxPtr argument(Part a) {
    if (a->name()) return nodes_.name(a->name());
    if (a->token(P::LOCAL))
      return nodes_.make(a, SyntaxKind::Local, NodeMaker::strip(a->token(P::LOCAL)), {});
    Nodes numbers;
    for (Part n : a->rules(P::RuleScheduleNumber))
      numbers.push_back(nodes_.make(n, SyntaxKind::Int, NodeMaker::text(n), {}));
    return nodes_.make(a, numbers.empty() ? SyntaxKind::AnyDim : SyntaxKind::ScheduleNumber, "", numbers);
  }

  NodeMaker& nodes_;
};

}  // namespace

SyntaxPtr build_schedule(NodeMaker& make, const ParseNode* schedule) {
  Nodes steps;
  for (const ParseNode* s : schedule->rules(P::RuleScheduleStep))
    steps.push_back(ScheduleBuilder(make).step(s));
  return make.make(schedule, SyntaxKind::Schedule, "", steps);
}

}  // namespace quern
