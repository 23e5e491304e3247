#include "frontend/index/schedule_clause.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "frontend/index/elaborator.h"
#include "frontend/text/suggest.h"

namespace quern {

namespace {

using loops::ArgumentKind;
using loops::PrimitiveInfo;
using loops::ScheduleNumber;
using loops::ScheduleStep;

std::string count_of(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// --- the text of a clause --------------------------------------------------------------------------------

class StepReader {
 public:
  StepReader(SyntaxPtr syntax, uint32_t declaration, Diagnostics& diagnostics)
      : syntax_(syntax), declaration_(declaration), diagnostics_(diagnostics) {}

  ScheduleClause::StepOrigin origins{};

  std::optional<ScheduleStep> read() {
    origins.step = origin(syntax_);
    SyntaxPtr makes = syntax_->child(0), name = syntax_->child(1);
    const auto primitive = loops::find_primitive(name->text);
    if (!primitive) {
      unknown_primitive(name);
      return std::nullopt;
    }
    info_ = &loops::info(*primitive);
    step_.primitive = *primitive;
    for (SyntaxPtr made : makes->children) {
      step_.makes.emplace_back(made->text);
      origins.words.push_back(origin(made));
    }
    if (!makes_fit(makes->children.empty() ? name : makes)) return std::nullopt;
    const auto groups = syntax_->children.subspan(2);
    if (groups.size() != info_->groups.size()) {
      wrong(syntax_, fmt::format("`{}` takes {}, with a `;` between them, and not {}", info_->text,
                                 count_of(info_->groups.size(), "group"), groups.size()));
      return std::nullopt;
    }
    for (size_t g = 0; g < groups.size(); ++g)
      if (!group(groups[g], info_->groups[g])) return std::nullopt;
    return std::move(step_);
  }

 private:
  Origin origin(SyntaxPtr at) const { return {declaration_, at->id}; }
  /// Reports with the correct form. Returns false.
  bool wrong(SyntaxPtr at, std::string_view message, std::vector<Fix> fixes = {}) {
    diagnostics_.push_back({DiagnosticKind::WrongScheduleArguments,
                            {origin(at), {}},
                            fmt::format("{}: `{}`", message, info_->form),
                            {},
                            std::move(fixes)});
    return false;
  }

  void unknown_primitive(SyntaxPtr name) {
    std::vector<std::string> all;
    for (const PrimitiveInfo& info : loops::primitives()) all.emplace_back(info.text);
    const Place place{origin(name), {}};
    Suggestion meant = suggest(did_you_mean(name->text, all), place);
    diagnostics_.push_back({DiagnosticKind::UnknownPrimitive,
                            place,
                            fmt::format("there is no schedule primitive `{}`; the primitives are {}{}",
                                        name->text, fmt::join(all, ", "), meant.text),
                            {},
                            std::move(meant.fixes)});
  }

  bool makes_fit(SyntaxPtr at) {
    if (step_.makes.size() == info_->makes.size()) return true;
    if (info_->makes.empty())
      return wrong(at, fmt::format("`{}` makes no loop, and no name stands before it", info_->text));
    return wrong(at, fmt::format("`{}` makes {}, whose names stand before it", info_->text,
                                 count_of(info_->makes.size(), "loop")));
  }

  bool group(SyntaxPtr s, const std::vector<loops::ScheduleArgument>& wanted) {
    step_.loops.emplace_back();
    size_t next = 0;
    for (const loops::ScheduleArgument& one : wanted) {
      size_t taken = 0;
      for (; next < s->children.size() && (taken == 0 || one.many); ++next, ++taken)
        if (!argument(s->children[next], one.kind)) return false;
      if (taken == 0 && !one.optional)
        return wrong(s->children.empty() ? syntax_ : s->children.back(),
                     fmt::format("`{}` takes {} more", info_->text, described(one.kind)));
    }
    return next == s->children.size() ||
           wrong(s->children[next], fmt::format("`{}` takes nothing more here", info_->text));
  }

  static std::string_view described(ArgumentKind kind) {
    switch (kind) {
      case ArgumentKind::Number: return "a number";
      case ArgumentKind::Tensor: return "a tensor";
      case ArgumentKind::Word: return "a name";
      default: return "a loop";
    }
  }
  static std::string_view described(SyntaxPtr argument) {
    return argument->is(SyntaxKind::Local)  ? "a tensor"
           : argument->is(SyntaxKind::Name) ? "a name"
                                            : "a number";
  }

  bool argument(SyntaxPtr s, ArgumentKind kind) {
    if (s->is(SyntaxKind::Local) && kind == ArgumentKind::Tensor)
      return wrong(s, "a schedule names a tensor without `%`",
                   {{fmt::format("write `{}`", s->text), {{Place{origin(s), {}}, std::string(s->text)}}}});
    const bool is_name = s->is(SyntaxKind::Name);
    if (is_name == (kind == ArgumentKind::Number) || s->is(SyntaxKind::Local))
      return wrong(s, fmt::format("`{}` takes {} here, not {}", info_->text, described(kind), described(s)));
    if (!is_name) return number(s);
    step_.loops.back().emplace_back(s->text);
    origins.words.push_back(origin(s));
    return true;
  }

  bool number(SyntaxPtr s) {
    ScheduleNumber result;
    result.is_open = s->is(SyntaxKind::AnyDim);
    for (SyntaxPtr choice : s->children) {
      int64_t value = 0;
      const char* end = choice->text.data() + choice->text.size();
      const auto [stopped, error] = std::from_chars(choice->text.data(), end, value);
      if (error != std::errc() || stopped != end || value < 1 || value > loops::kMostScheduleNumber)
        return wrong(choice, fmt::format("a number of a schedule is an integer from 1 to {}",
                                         loops::kMostScheduleNumber));
      if (choice == s->children[0])
        result.value = value;
      else
        result.others.push_back(value);
    }
    step_.numbers.push_back(std::move(result));
    return true;
  }

  SyntaxPtr syntax_;
  uint32_t declaration_;
  Diagnostics& diagnostics_;
  const PrimitiveInfo* info_ = nullptr;
  ScheduleStep step_{};
};

// --- names ---------------------------------------------------------------------------------------------

/// Checks the steps, tracking the loops that exist before each.
class LoopNameCheck {
 public:
  LoopNameCheck(const ScheduleClause& clause, const ScheduleNames& names)
      : clause_(clause), names_(names), loops_(names.loops) {}

  Diagnostics run() {
    for (size_t k = 0; k < clause_.schedule.steps.size(); ++k)
      step(clause_.schedule.steps[k], clause_.steps[k].words);
    return std::move(diagnostics_);
  }

 private:
  struct Consumed {
    std::string name, by;
    Origin at;
  };

  void step(const ScheduleStep& step, const std::vector<Origin>& words) {
    const auto& groups = loops::info(step.primitive).groups;
    size_t word = step.makes.size(), place = loops_.size();
    for (size_t g = 0; g < step.loops.size(); ++g)
      for (size_t k = 0; k < step.loops[g].size(); ++k, ++word) {
        const std::string& name = step.loops[g][k];
        const ArgumentKind kind = groups[g][std::min(k, groups[g].size() - 1)].kind;
        if (kind == ArgumentKind::Word) continue;
        if (kind == ArgumentKind::Tensor) {
          check_tensor(name, words[word]);
        } else if (kind == ArgumentKind::OnceLoop && consumed(name)) {
          continue;
        } else if (check_loop(name, words[word]) && kind == ArgumentKind::ConsumedLoop) {
          consumed_.push_back({name, to_string(step), words[word]});
          const auto at = std::ranges::find(loops_, name);
          if (at == loops_.end()) continue;  // a pack's loop
          place = std::min(place, static_cast<size_t>(at - loops_.begin()));
          loops_.erase(at);
        }
      }
    place = std::min(place, loops_.size());
    for (size_t k = 0; k < step.makes.size(); ++k) make(step.makes[k], words[k], place);
  }

  bool is_of_pack(const std::string& name) const {
    return std::ranges::any_of(names_.packs, [&](const std::string& pack) {
      return name.size() > pack.size() && name.starts_with(pack) &&
             name.find_first_not_of("0123456789", pack.size()) == std::string::npos;
    });
  }
  const Consumed* consumed(const std::string& name) const {
    const auto found = std::ranges::find(consumed_, name, &Consumed::name);
    return found == consumed_.end() ? nullptr : &*found;
  }

  bool check_loop(const std::string& name, Origin at) {
    const Consumed* gone = consumed(name);
    if (names_.any_loop || (!gone && (std::ranges::count(loops_, name) > 0 || is_of_pack(name)))) return true;
    std::vector<std::string> all = loops_;
    for (const std::string& pack : names_.packs) all.push_back(pack + "0 …");
    if (gone) {
      report(DiagnosticKind::UnknownLoop, at,
             fmt::format("`{}` is no loop any more; the loops here are {}", name, fmt::join(all, ", ")), {},
             {{Place{gone->at, {}}, fmt::format("`{}` made others of it", gone->by)}});
    } else {
      report(DiagnosticKind::UnknownLoop, at,
             fmt::format("there is no loop `{}`; the loops here are {}", name, fmt::join(all, ", ")),
             did_you_mean(name, loops_));
    }
    return false;
  }

  void check_tensor(const std::string& name, Origin at) {
    if (std::ranges::count(names_.tensors, name) > 0) return;
    report(DiagnosticKind::NoScheduledTensor, at,
           names_.tensors.empty() ? fmt::format("there is no tensor `{}` that the loops read", name)
                                  : fmt::format("there is no tensor `{}` that the loops read; those are {}",
                                                name, fmt::join(names_.tensors, ", ")),
           did_you_mean(name, names_.tensors));
  }

  /// Adds a new loop in place of those it is made from.
  void make(const std::string& name, Origin at, size_t& place) {
    const bool taken = std::ranges::count(loops_, name) > 0 || consumed(name) || is_of_pack(name);
    if (names_.any_loop) return;
    if (taken)
      report(DiagnosticKind::LoopNameTaken, at,
             fmt::format("there is a loop `{}` already, or was; a new one has a name of its own", name));
    else
      loops_.insert(loops_.begin() + static_cast<ptrdiff_t>(place++), name);
  }

  void report(DiagnosticKind kind, Origin at, const std::string& message,
              const std::optional<std::string>& meant = std::nullopt, std::vector<Note> notes = {}) {
    Suggestion suggestion = suggest(meant, Place{at, {}});
    diagnostics_.push_back(
        {kind, Place{at, {}}, message + suggestion.text, std::move(notes), std::move(suggestion.fixes)});
  }

  const ScheduleClause& clause_;
  const ScheduleNames& names_;
  std::vector<std::string> loops_;
  std::vector<Consumed> consumed_;
  Diagnostics diagnostics_;
};

SyntaxPtr without_brackets(SyntaxPtr s) {
  while (s && (s->is(SyntaxKind::Paren) || (s->is(SyntaxKind::Block) && s->children.size() == 1)))
    s = s->child(0);
  return s;
}

void add_loops(SyntaxPtr binders, ScheduleNames& names) {
  for (SyntaxPtr b : binders->children) {
    if (!b->is(SyntaxKind::Binder) && !b->is(SyntaxKind::PackBinder)) continue;
    if (b->is(SyntaxKind::PackBinder)) {
      names.packs.emplace_back(b->text);
      continue;
    }
    std::string name(b->text);
    for (int copy = 2; std::ranges::count(names.loops, name) > 0; ++copy)
      name = fmt::format("{}_{}", b->text, copy);
    names.loops.push_back(std::move(name));
  }
}

/// Adds the loops of reductions that are not nested in another or in a `let`.
void add_reductions(SyntaxPtr s, ScheduleNames& names) {
  if (!s || s->is(SyntaxKind::Let)) return;
  if (s->is(SyntaxKind::Reduce)) return add_loops(s->child(0), names);
  for (SyntaxPtr c : s->children) add_reductions(c, names);
}

/// The names of an operator's tensors and, if it has one body, of its loops.
ScheduleNames names_of_op(const Syntax& op) {
  SyntaxPtr bodies = op.child(4);
  const bool one = bodies && bodies->children.size() == 1 && bodies->child(0)->is(SyntaxKind::When);
  SyntaxPtr body = one ? without_brackets(bodies->child(0)->child(1)) : nullptr;
  ScheduleNames names;
  if (body && body->is(SyntaxKind::Comprehension)) names = schedule_names(body);
  names.any_loop = names.loops.empty() && names.packs.empty();
  names.tensors = tensor_parameters(&op);
  return names;
}

/// Checks every schedule of a declaration.
class ScheduleCheck {
 public:
  ScheduleCheck(uint32_t id, Diagnostics& diagnostics) : id_(id), diagnostics_(diagnostics) {}

  void declaration(SyntaxPtr s) {
    if (SyntaxPtr own = schedule_of(s)) {
      for (SyntaxPtr other : s->child(3)->children)
        if (other->is(SyntaxKind::Schedule) && other != own)
          diagnostics_.push_back({DiagnosticKind::GivenTwice,
                                  {{id_, other->id}, {}},
                                  fmt::format("`{}` has a schedule already", s->text),
                                  {{Place{{id_, own->id}, {}}, "it stands here"}}});
      if (!s->is(SyntaxKind::Op)) {
        report(own, s->is(SyntaxKind::Def)
                        ? "a schedule is for the loops of one index expression: write it in an `op`, or "
                          "after a call or an index expression in this definition"
                        : "an `extern op` has no loops: its kernel is code of its own");
      } else {
        const ScheduleNames names = names_of_op(*s);
        clause(own, &names);
      }
    }
    visit(s);
  }

 private:
  void report(SyntaxPtr at, std::string message) {
    diagnostics_.push_back({DiagnosticKind::NoSchedule, {{id_, at->id}, {}}, std::move(message), {}});
  }
  void clause(SyntaxPtr schedule, const ScheduleNames* names) {
    auto found = clause_of(schedule, id_, diagnostics_);
    if (!found || !names) return;
    Diagnostics wrong = check_schedule_names(*found, *names);
    diagnostics_.insert(diagnostics_.end(), wrong.begin(), wrong.end());
  }
  void visit(SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::Scheduled)) {
      SyntaxPtr value = without_brackets(s->child(0));
      const bool named = value && value->is(SyntaxKind::Comprehension);
      const ScheduleNames names = named ? schedule_names(value) : ScheduleNames();
      clause(s->child(1), named ? &names : nullptr);
    }
    for (SyntaxPtr c : s->children) visit(c);
  }

  uint32_t id_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::optional<ScheduleClause> clause_of(SyntaxPtr schedule, uint32_t declaration, Diagnostics& diagnostics) {
  ScheduleClause clause{{}, {declaration, schedule->id}, {}};
  for (SyntaxPtr s : schedule->children) {
    if (!s->is(SyntaxKind::ScheduleStep)) continue;  // it did not parse
    StepReader reader(s, declaration, diagnostics);
    auto step = reader.read();
    if (!step) continue;
    clause.schedule.steps.push_back(std::move(*step));
    clause.steps.push_back(std::move(reader.origins));
  }
  const bool whole = clause.steps.size() == schedule->children.size();
  return whole ? std::optional(std::move(clause)) : std::nullopt;
}

Diagnostics check_schedule_names(const ScheduleClause& clause, const ScheduleNames& names) {
  return LoopNameCheck(clause, names).run();
}

ScheduleNames schedule_names(SyntaxPtr comprehension) {
  ScheduleNames names;
  add_loops(comprehension->child(0), names);
  add_reductions(comprehension->child(1), names);
  for (SyntaxPtr operand : tensor_operands(comprehension))
    if (operand->is(SyntaxKind::Local)) names.tensors.emplace_back(operand->text);
  return names;
}

std::vector<std::string> tensor_parameters(SyntaxPtr op) {
  std::vector<std::string> names;
  for (SyntaxPtr p : op->child(1)->children)
    if (p->is(SyntaxKind::TensorParam)) names.emplace_back(p->text);
  return names;
}

SyntaxPtr schedule_of(SyntaxPtr declaration) {
  SyntaxPtr clauses = declaration->child(3);
  const bool has_clauses = clauses && clauses->is(SyntaxKind::Clauses);
  for (SyntaxPtr clause : has_clauses ? clauses->children : std::span<const SyntaxPtr>())
    if (clause->is(SyntaxKind::Schedule)) return clause;
  return nullptr;
}

Diagnostics check_schedules(SyntaxPtr declaration, uint32_t id) {
  Diagnostics diagnostics;
  ScheduleCheck(id, diagnostics).declaration(declaration);
  return diagnostics;
}

std::optional<ScheduleClause> sound_clause(SyntaxPtr schedule, uint32_t declaration,
                                           const ScheduleNames& names) {
  Diagnostics told_elsewhere;
  auto clause = clause_of(schedule, declaration, told_elsewhere);
  return clause && check_schedule_names(*clause, names).empty() ? std::move(clause) : std::nullopt;
}

std::optional<ScheduleClause> own_clause(const Syntax& op, uint32_t id) {
  SyntaxPtr schedule = schedule_of(&op);
  return schedule ? sound_clause(schedule, id, names_of_op(op)) : std::nullopt;
}

Result<loops::Schedule> parse_schedule(std::string_view steps) {
  const ParseOutcome parsed = parse_declaration(fmt::format("() schedule {{ {} }}", steps), false);
  if (!parsed.problems.empty()) return Failure{parsed.problems[0].message};
  Diagnostics diagnostics;
  auto clause = clause_of(parsed.tree.root->child(1), 0, diagnostics);
  if (!clause) return Failure{diagnostics.empty() ? "this is no schedule" : diagnostics[0].message};
  return std::move(clause->schedule);
}

}  // namespace quern
