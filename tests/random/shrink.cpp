#include <algorithm>

#include "tests/random/build.h"
#include "tests/random/check.h"

namespace quern::random_programs {

namespace {

/// Every place of a program that holds a term, and the program with another term there.
using Rebuild = std::function<ProgramTerm(const TermPtr&)>;
struct Site {
  TermPtr term;
  std::set<std::string> in_scope;
  Rebuild with;
};

void collect(const TermPtr& term, const std::set<std::string>& in_scope, const Rebuild& with,
             std::vector<Site>& sites) {
  sites.push_back({term, in_scope, with});
  std::set<std::string> inside = in_scope;
  inside.insert(term->binds.begin(), term->binds.end());
  for (size_t i = 0; i < term->children.size(); ++i) {
    Rebuild child = [term, i, with](const TermPtr& other) {
      Term copy = *term;
      copy.children[i] = other;
      return with(std::make_shared<const Term>(std::move(copy)));
    };
    collect(term->children[i], inside, child, sites);
  }
}

std::vector<Site> sites_of(const ProgramTerm& program) {
  std::vector<Site> sites;
  std::set<std::string> declared;
  for (const OpTerm& op : program.ops) declared.insert(op.name);
  for (const DataTerm& d : program.data) declared.insert(d.name);
  for (const DefTerm& d : program.defs) declared.insert(d.name);
  for (size_t i = 0; i < program.defs.size(); ++i) {
    std::set<std::string> scope = declared;
    scope.insert(program.defs[i].dim_variables.begin(), program.defs[i].dim_variables.end());
    for (auto& [name, type] : program.defs[i].params) scope.insert(name);
    auto with = [&program, i](const TermPtr& other) {
      ProgramTerm copy = program;
      copy.defs[i].body = other;
      return copy;
    };
    collect(program.defs[i].body, scope, with, sites);
  }
  for (size_t i = 0; i < program.statements.size(); ++i) {
    auto with = [&program, i](const TermPtr& other) {
      ProgramTerm copy = program;
      copy.statements[i].value = other;
      return copy;
    };
    collect(program.statements[i].value, declared, with, sites);
    declared.insert(program.statements[i].variable);
  }
  return sites;
}

std::vector<ProgramTerm> without_a_declaration(const ProgramTerm& program) {
  std::set<std::string> used;
  for (const DefTerm& d : program.defs)
    for (const std::string& name : free_names(d.body))
      if (name != d.name) used.insert(name);
  for (const StatementTerm& s : program.statements) used.merge(free_names(s.value));
  // A type is also used where a type is written.
  std::string text = write(program).text;
  auto occurrences = [&](const std::string& name) {
    size_t count = 0;
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) ++count;
    return count;
  };
  std::vector<ProgramTerm> smaller;
  for (size_t i = 0; i < program.defs.size(); ++i)
    if (!used.contains(program.defs[i].name)) {
      smaller.push_back(program);
      smaller.back().defs.erase(smaller.back().defs.begin() + static_cast<ptrdiff_t>(i));
    }
  for (size_t i = 0; i < program.statements.size(); ++i)
    if (!used.contains(program.statements[i].variable)) {
      smaller.push_back(program);
      smaller.back().statements.erase(smaller.back().statements.begin() + static_cast<ptrdiff_t>(i));
    }
  for (size_t i = 0; i < program.ops.size(); ++i)
    if (!used.contains(program.ops[i].name)) {
      smaller.push_back(program);
      smaller.back().ops.erase(smaller.back().ops.begin() + static_cast<ptrdiff_t>(i));
    }
  for (size_t i = 0; i < program.data.size(); ++i)
    if (occurrences(program.data[i].name) == 1) {
      smaller.push_back(program);
      smaller.back().data.erase(smaller.back().data.begin() + static_cast<ptrdiff_t>(i));
    }
  return smaller;
}

void descendants(const TermPtr& term, const TypePtr& type, std::vector<TermPtr>& found) {
  for (const TermPtr& child : term->children) {
    if (same(child->type, type)) found.push_back(child);
    descendants(child, type, found);
  }
}

/// Simpler terms for a place, the simplest first.
std::vector<TermPtr> replacements(const Site& site, const ProgramTerm& program) {
  std::vector<TermPtr> found;
  if (TermPtr least = simplest(site.term->type, program);
      least && write({.statements = {{"x", least}}}).text != write({.statements = {{"x", site.term}}}).text)
    found.push_back(least);
  size_t before = found.size();
  descendants(site.term, site.term->type, found);
  std::erase_if(found, [&](const TermPtr& term) {
    std::set<std::string> names = free_names(term);
    return !std::includes(site.in_scope.begin(), site.in_scope.end(), names.begin(), names.end());
  });
  std::sort(found.begin() + static_cast<ptrdiff_t>(std::min(before, found.size())), found.end(),
            [](const TermPtr& a, const TermPtr& b) { return size(a) < size(b); });
  return found;
}

}  // namespace

ProgramTerm shrink(ProgramTerm program, const std::function<bool(const ProgramTerm&)>& fails, int attempts) {
  auto smaller_failure = [&](const ProgramTerm& from, ProgramTerm& to) {
    for (ProgramTerm& candidate : without_a_declaration(from))
      if (--attempts >= 0 && fails(candidate)) return to = std::move(candidate), true;
    for (const Site& site : sites_of(from))
      for (const TermPtr& replacement : replacements(site, from)) {
        if (--attempts < 0) return false;
        if (size(replacement) > size(site.term)) continue;
        ProgramTerm candidate = site.with(replacement);
        if (fails(candidate)) return to = std::move(candidate), true;
      }
    return false;
  };
  ProgramTerm next;
  while (attempts > 0 && smaller_failure(program, next)) program = next;
  return program;
}

}  // namespace quern::random_programs
