#include <fmt/format.h>

#include "tests/random/build.h"
#include "tests/random/check.h"

namespace quern::random_programs {

namespace {

/// A type with one dim or one dtype changed; null where it has none.
TypePtr changed(const TypePtr& type, bool dim, Random& random) {
  if (type->kind == TypeTerm::Kind::Tensor) {
    TypeTerm copy = *type;
    if (dim) {
      if (copy.dims.empty()) return nullptr;
      Extent& d = copy.dims[random.below(copy.dims.size())];
      if (is_unwritten(d.variable)) return nullptr;  // a `?` takes every dim
      d = {d.variable.empty() ? d.constant + 1 : 5, ""};
    } else {
      copy.dtype = copy.dtype == "int32" ? "float64" : copy.dtype == "bool" ? "float32" : "int32";
    }
    return std::make_shared<const TypeTerm>(copy);
  }
  if (type->kind != TypeTerm::Kind::Tuple) return nullptr;
  for (size_t i = 0; i < type->args.size(); ++i)
    if (TypePtr field = changed(type->args[i], dim, random)) {
      TypeTerm copy = *type;
      copy.args[i] = field;
      return std::make_shared<const TypeTerm>(copy);
    }
  return nullptr;
}

/// Whether a term has one dtype whatever the context wants: a variable, or what a definition gives.
bool has_fixed_dtype(const TermPtr& term) {
  return term->tag == Term::Tag::Variable ||
         (term->tag == Term::Tag::Call && term->parts[0].starts_with("@") && !term->general);
}

/// A match with a constructor's pattern that has one part more, or none; null where there is no such pattern.
TermPtr with_other_pattern(const Term& match, bool none, Random& random) {
  std::vector<std::pair<size_t, size_t>> arrows;  // part, offset
  for (size_t i = 1; i < match.parts.size(); ++i)
    if (size_t at = match.parts[i].find(" => "); at != std::string::npos && match.parts[i][at - 1] != '_')
      arrows.emplace_back(i, at);
  if (arrows.empty()) return nullptr;
  auto [part, at] = random.pick(arrows);
  Term copy = match;
  std::string& text = copy.parts[part];
  bool has_parts = text[at - 1] == ')';
  if (!none) {
    text.insert(has_parts ? at - 1 : at, has_parts ? ", _" : "(_)");
  } else {
    size_t open = text.rfind('(', at);
    if (!has_parts || text.find(',', open) > at) return nullptr;
    text.erase(open + 1, text.find(',', open) - open);
  }
  return std::make_shared<const Term>(copy);
}

struct Candidate {
  const Term* term;
  std::function<TermPtr(Random&)> with;  ///< null where this change does not fit after all
  const char* what;
};

void collect(const TermPtr& term, std::vector<Candidate>& candidates) {
  if (term->tag == Term::Tag::Let) {
    for (bool dim : {true, false}) {
      if (!dim && !has_fixed_dtype(term->children[0])) continue;
      auto with = [term, dim](Random& random) -> TermPtr {
        TypePtr type = changed(term->annotated, dim, random);
        if (!type) return nullptr;
        Term copy = *term;
        copy.parts[0] =
            copy.parts[0].substr(0, copy.parts[0].find(kNoteBegin)) + ": " + to_string(*type) + " = ";
        return std::make_shared<const Term>(copy);
      };
      // The mistake is between the annotation and the value.
      candidates.push_back({term.get(), with, dim ? "a dim of a let" : "a dtype of a let"});
    }
  }
  bool named = term->tag == Term::Tag::Call || term->tag == Term::Tag::Construct;
  if (named) {
    auto more = [term](Random&) -> TermPtr {
      Term copy = *term;
      copy.parts[0] += term->arguments ? "1, " : "";
      if (!term->arguments) copy.parts[0].insert(copy.parts[0].size() - 1, "1");
      return std::make_shared<const Term>(copy);
    };
    candidates.push_back({term.get(), more, "one argument more"});
  }
  if (named && term->arguments > 1) {
    auto fewer = [term](Random&) -> TermPtr {
      Term copy = *term;
      copy.children.erase(copy.children.begin());
      copy.parts.erase(copy.parts.begin() + 1);
      return std::make_shared<const Term>(copy);
    };
    candidates.push_back({term.get(), fewer, "one argument fewer"});
  }
  if (term->tag == Term::Tag::Match) {
    for (bool fewer : {false, true})
      candidates.push_back(
          {term.get(), [term, fewer](Random& random) { return with_other_pattern(*term, fewer, random); },
           fewer ? "one part of a pattern fewer" : "one part of a pattern more"});
  }
  for (const TermPtr& child : term->children) collect(child, candidates);
}

TermPtr replaced(const TermPtr& in, const Term* old, const TermPtr& fresh) {
  if (in.get() == old) return fresh;
  for (size_t i = 0; i < in->children.size(); ++i)
    if (TermPtr child = replaced(in->children[i], old, fresh); child != in->children[i]) {
      Term copy = *in;
      copy.children[i] = child;
      return std::make_shared<const Term>(copy);
    }
  return in;
}

}  // namespace

bool mutate(const ProgramTerm& program, uint64_t seed, Mutant& mutant) {
  Random random(seed);
  std::vector<Candidate> candidates;
  for (const DefTerm& d : program.defs) collect(d.body, candidates);
  for (const StatementTerm& s : program.statements) collect(s.value, candidates);
  while (!candidates.empty()) {
    size_t at = random.below(candidates.size());
    Candidate chosen = candidates[at];
    candidates.erase(candidates.begin() + static_cast<ptrdiff_t>(at));
    TermPtr fresh = chosen.with(random);
    if (!fresh) continue;
    ProgramTerm copy = program;
    for (DefTerm& d : copy.defs) d.body = replaced(d.body, chosen.term, fresh);
    for (StatementTerm& s : copy.statements) s.value = replaced(s.value, chosen.term, fresh);
    WrittenProgram written = write(copy);
    mutant = {written.text, chosen.what, written.ranges.at(fresh.get())};
    if (chosen.term->tag == Term::Tag::Let)
      mutant.place.end = written.ranges.at(fresh->children[0].get()).end;
    return true;
  }
  return false;
}

}  // namespace quern::random_programs
