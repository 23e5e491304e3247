// The diagnostics of a source.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

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

std::vector<LocatedDiagnostic> Session::check(SourceId source) {
  return std::get<Checked>(check(source, nullptr)).diagnostics;
}

std::variant<Checked, Cancelled> Session::check(SourceId source, const std::atomic<bool>* stop) {
  QueryEngine& engine = impl_->engine;
  CancellableWork work(engine, stop);
  impl_->bound_caches();
  Collector found;
  const Layout& all = impl_->layouts[source];
  for (const SyntaxProblem& p : all.scan.problems) found.add(locate(p, source));
  if (const auto& metadata = impl_->metadata(source))
    for (SyntaxProblem p : metadata->problems) {
      p.range = {p.range.begin + all.scan.metadata.begin, p.range.end + all.scan.metadata.begin};
      found.add(locate(p, source));
    }
  for (size_t i = 0; i < all.ids.size(); ++i) {
    DeclarationId id = all.ids[i];
    if (auto duplicate = all.duplicates.find(id); duplicate != all.duplicates.end()) {
      bool statement = info(id).kind == PieceKind::Statement;
      std::string_view sigil = statement ? "%" : "", what = statement ? "bound" : "defined";
      Diagnostic twice{DiagnosticKind::DuplicateDefinition,
                       {{id, 1}, {}},
                       fmt::format("`{}{}` is {} twice", sigil, info(id).name, what),
                       {{Place{{duplicate->second, 1}, {}}, fmt::format("it is {} here first", what)}}};
      found.add(locate(twice));
      continue;
    }
    const Diagnostics& of_declaration = impl_->declaration_diagnostics(id);
    if (engine.cancelled()) return Cancelled{};
    // Where the scanner found something, what the parser makes of it would be told twice.
    Range piece = all.scan.pieces[i].range;
    bool scanned = std::any_of(
        all.scan.problems.begin(), all.scan.problems.end(),
        [&](const SyntaxProblem& p) { return p.range.begin >= piece.begin && p.range.begin <= piece.end; });
    for (const Diagnostic& d : of_declaration)
      if (!scanned || !d.place.range) found.add(locate(d));
  }
  Checked checked{found.take(), {}};
  if (!checked.diagnostics.empty())
    for (const Layout& layout : impl_->layouts) checked.texts.push_back(layout.text);
  return checked;
}

}  // namespace quern
