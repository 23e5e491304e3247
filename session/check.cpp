// The diagnostics of a source.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "frontend/parse/comment_check.h"
#include "session/session_impl.h"

namespace quern {

namespace {

/// Each diagnostic once, in the order of the text.
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
  impl_->engine.watch(stop);
  impl_->engine.begin_work();
}

std::vector<LocatedDiagnostic> Session::check(SourceId source) {
  auto checked = check(source, nullptr);
  return std::holds_alternative<Cancelled>(checked) ? std::vector<LocatedDiagnostic>()
                                                    : std::get<Checked>(std::move(checked)).diagnostics;
}

std::variant<Checked, Cancelled> Session::check(SourceId source, const std::atomic<bool>* stop) {
  QueryEngine& engine = impl_->engine;
  CancellableWork work(engine, stop);
  Collector found;
  auto note_bug_in = [&](DeclarationId asked, const auto& step) {
    if (auto bug = failure_of(step)) found.add(locate(*bug, asked));
  };
  const Layout& all = impl_->layouts[source];
  note_bug_in(all.ids.empty() ? 0 : all.ids.front(), [&] {
    impl_->bound_caches();
    for (const SyntaxProblem& p : all.scan.problems) found.add(locate(p, source));
    if (!all.scan.slash_names)
      for (const SyntaxProblem& p : comments_for_operators(*all.text)) found.add(locate(p, source));
    if (const auto& metadata = impl_->metadata(source))
      for (SyntaxProblem p : metadata->problems) {
        p.range = {p.range.begin + all.scan.metadata.begin, p.range.end + all.scan.metadata.begin};
        found.add(locate(p, source));
      }
  });
  for (size_t i = 0; i < all.ids.size(); ++i) {
    note_bug_in(all.ids[i], [&] {
      for (const Diagnostic& d : impl_->diagnostics_at(source, i)) found.add(locate(d));
    });
    if (engine.cancelled()) return Cancelled{};
  }
  Checked checked{found.take(), {}};
  if (!checked.diagnostics.empty())
    for (const Layout& layout : impl_->layouts) checked.texts.push_back(layout.text);
  return checked;
}

std::vector<LocatedDiagnostic> Session::check_declaration(DeclarationId declaration) {
  Collector found;
  for (const Diagnostic& d : impl_->declaration_diagnostics(declaration)) found.add(locate(d));
  return found.take();
}

Diagnostics Session::Impl::diagnostics_at(SourceId source, size_t piece) {
  const Layout& all = layouts[source];
  DeclarationId id = all.ids[piece];
  if (auto duplicate = all.duplicates.find(id); duplicate != all.duplicates.end()) {
    bool statement = declarations[id].kind == PieceKind::Statement;
    std::string_view sigil = statement ? "%" : "", what = statement ? "bound" : "defined";
    return {{DiagnosticKind::DuplicateDefinition,
             {{id, 1}, {}},
             fmt::format("`{}{}` is {} twice", sigil, declarations[id].name, what),
             {{Place{{duplicate->second, 1}, {}}, fmt::format("it is {} here first", what)}}}};
  }
  Diagnostics found = declaration_diagnostics(id);
  // Where the scanner found something, what the parser makes of it would be reported twice.
  Range range = all.scan.pieces[piece].range;
  bool scanned = std::ranges::any_of(all.scan.problems, [&](const SyntaxProblem& p) {
    return p.range.begin >= range.begin && p.range.begin <= range.end;
  });
  if (scanned) std::erase_if(found, [](const Diagnostic& d) { return d.place.range.has_value(); });
  return found;
}

}  // namespace quern
