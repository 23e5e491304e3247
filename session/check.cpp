// The diagnostics of a source.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_set>

#include "frontend/parse/comment_check.h"
#include "session/db/database.h"
#include "session/session.h"

namespace quern {

namespace {

/// Collects each diagnostic once, in source order.
class Collector {
 public:
  void add(LocatedDiagnostic d) {
    if (known_.emplace(d.kind, d.file, d.range.begin, d.range.end, d.message).second)
      all_.push_back(std::move(d));
  }
  std::vector<LocatedDiagnostic> take() {
    std::stable_sort(all_.begin(), all_.end(), [](const LocatedDiagnostic& a, const LocatedDiagnostic& b) {
      return a.file == b.file && a.range.begin < b.range.begin;
    });
    return std::move(all_);
  }

 private:
  std::set<std::tuple<DiagnosticKind, std::string, uint32_t, uint32_t, std::string>> known_;
  std::vector<LocatedDiagnostic> all_;
};

}  // namespace

void Session::watch(const std::atomic<bool>* stop) {
  db_->engine.watch(stop);
  db_->engine.begin_work();
}

std::vector<LocatedDiagnostic> Session::check(SourceId source) {
  auto checked = check(source, nullptr);
  return std::holds_alternative<Cancelled>(checked) ? std::vector<LocatedDiagnostic>()
                                                    : std::get<Checked>(std::move(checked)).diagnostics;
}

std::variant<Checked, Cancelled> Session::check(SourceId source, const std::atomic<bool>* stop) {
  QueryEngine& engine = db_->engine;
  CancellableWork work(engine, stop);
  Collector found;
  auto note_bug_in = [&](DeclarationId asked, const auto& step) {
    if (auto bug = failure_of(step)) found.add(locate(*bug, asked));
  };
  const Layout& all = *db_->layouts[source];
  note_bug_in(all.ids.empty() ? 0 : all.ids.front(), [&] {
    db_->bound();
    for (const SyntaxProblem& p : all.scan.problems) found.add(locate(p, source));
    if (!all.scan.slash_names)
      for (const SyntaxProblem& p : comments_for_operators(*all.text)) found.add(locate(p, source));
    if (const auto& metadata = db_->metadata(source))
      for (SyntaxProblem p : metadata->problems) {
        p.range = {p.range.begin + all.scan.metadata.begin, p.range.end + all.scan.metadata.begin};
        found.add(locate(p, source));
      }
  });
  const std::vector<size_t> pieces = db_->pieces_to_check(source);
  db_->begin_read_ahead(source, pieces);
  for (const size_t i : pieces) {
    note_bug_in(all.ids[i], [&] {
      for (const Diagnostic& d : db_->diagnostics_at(source, i)) found.add(locate(d));
    });
    if (engine.cancelled()) return Cancelled{};
  }
  db_->read_ahead.reset();
  Checked checked{found.take(), {}};
  if (!checked.diagnostics.empty())
    for (const auto& layout : db_->layouts) checked.texts.push_back(layout->text);
  return checked;
}

std::vector<LocatedDiagnostic> Session::check_declaration(DeclarationId declaration) {
  Collector found;
  for (const Diagnostic& d : db_->declaration_diagnostics(declaration)) found.add(locate(d));
  return found.take();
}

std::vector<LocatedDiagnostic> Session::check_with_needed(DeclarationId declaration) {
  std::vector<DeclarationId> needed{declaration};
  std::unordered_set<DeclarationId> known{declaration};
  const auto add_named = [&](DeclarationId by) {
    for (const Occurrence& name : occurrences(by)) {
      const DeclarationId id = name.target.declared.declaration;
      // A variable is one of its own text or of a statement, whose mistakes the uses have too.
      const bool is_other = id != 0 && name.target.kind != NameKind::Variable && !in_library(id);
      if (is_other && known.insert(id).second) needed.push_back(id);
    }
  };
  std::vector<LocatedDiagnostic> result;
  for (size_t i = 0; i < needed.size(); ++i) {
    add_named(needed[i]);
    for (const DeclarationId chunk : chunks(needed[i])) add_named(chunk);
    for (LocatedDiagnostic& d : check_declaration(needed[i])) result.push_back(std::move(d));
  }
  return result;
}

// --- a file with its imports

std::vector<SourceId> Session::imported(SourceId source) {
  std::vector<SourceId> result;
  std::vector<ModuleId> reached{module_of(source)};
  for (size_t i = 0; i < reached.size(); ++i)
    for (const Import& import : db_->imports.peek(reached[i])) {
      if (!import.module || std::find(reached.begin(), reached.end(), import.module) != reached.end())
        continue;
      reached.push_back(import.module);
      result.push_back(db_->modules[import.module][0]);
    }
  return result;
}

std::vector<LocatedDiagnostic> Session::check_with_imports(SourceId source) {
  std::vector<LocatedDiagnostic> result = check(source);
  // The mistakes of the imported files themselves follow.
  auto of_import = [](const LocatedDiagnostic& d) { return d.kind == DiagnosticKind::ImportedMistake; };
  std::erase_if(result, of_import);
  auto is_cycle = [](const LocatedDiagnostic& d) { return d.kind == DiagnosticKind::ImportCycle; };
  bool cycle = std::any_of(result.begin(), result.end(), is_cycle);
  for (SourceId s : imported(source))
    for (LocatedDiagnostic& d : check(s)) {
      // A cycle is reported once: by the requested file, or by the first file in the cycle.
      if ((cycle && is_cycle(d)) || of_import(d)) continue;
      cycle = cycle || is_cycle(d);
      result.push_back(std::move(d));
    }
  return result;
}

}  // namespace quern
