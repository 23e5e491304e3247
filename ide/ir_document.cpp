#include "ide/ir_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "frontend/text/source.h"
#include "ide/derivative.h"
#include "ide/loop_cost.h"
#include "session/run/source_stage.h"

namespace quern::ide {

namespace {

/// The lines of a source where expressions begin.
class SourceLines {
 public:
  SourceLines(Session& session, SourceId source)
      : session_(session), source_(source), index_(session.text(source)) {}

  /// The lines of an expression, and of the calls that were inlined to it.
  const std::set<uint32_t>& of(const Origin& origin) {
    auto [known, is_new] = known_.try_emplace({origin.declaration, origin.node, origin.inlined});
    if (!is_new) return known->second;
    std::set<uint32_t> lines;
    add(origin, lines);
    if (origin.inlined != 0) lines.merge(std::set<uint32_t>(of(origin_of_inlined(origin.inlined))));
    // References to elements of a map stay valid.
    return known->second = std::move(lines);
  }

 private:
  void add(const Origin& origin, std::set<uint32_t>& lines) const {
    if (origin.declaration == 0 || session_.info(origin.declaration).source != source_) return;
    const Range range = session_.range_of({origin, {}});
    const uint32_t first = line_of(range.begin);
    // Node 0 is a declaration that is shown as it is written.
    const uint32_t last = origin.node == 0 ? line_of(std::max(range.begin + 1, range.end) - 1) : first;
    for (uint32_t line = first; line <= last; ++line) lines.insert(line);
  }
  uint32_t line_of(uint32_t offset) const { return index_.locate(offset).line - 1; }

  Session& session_;
  SourceId source_;
  LineIndex index_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::set<uint32_t>> known_;
};

std::vector<Lines> runs(const std::set<uint32_t>& lines) {
  std::vector<Lines> found;
  for (const uint32_t line : lines) {
    if (!found.empty() && found.back().last + 1 == line)
      found.back().last = line;
    else
      found.push_back({line, line});
  }
  return found;
}

std::vector<MappedLines> map_of(SourceLines& source, const LineOrigins& origins) {
  std::map<std::pair<uint32_t, uint32_t>, std::set<uint32_t>> shown;
  for (const LineOrigin& of : origins) {
    const std::set<uint32_t>& lines = source.of(of.origin);
    shown[{of.first, of.last}].insert(lines.begin(), lines.end());
  }
  std::vector<MappedLines> map;
  for (const auto& [lines, from] : shown) {
    if (from.empty()) continue;
    MappedLines next{{lines.first, lines.second}, runs(from)};
    const bool goes_on =
        !map.empty() && map.back().shown.last + 1 == next.shown.first && map.back().source == next.source;
    if (goes_on)
      map.back().shown.last = next.shown.last;
    else
      map.push_back(std::move(next));
  }
  return map;
}

}  // namespace

Result<IrDocument> ir_document(Session& session, Compiler& compiler, SourceId source,
                               const std::string& function, const std::string& stage) {
  if (stage != kDerivative && std::ranges::find(Compiler::stages(), stage) == Compiler::stages().end())
    return Failure{Compiler::unknown_stage(stage)};
  const std::string name = function.starts_with('@') ? function.substr(1) : function;
  if (stage != "ast") {
    const auto problems = problems_of(session, source, name);
    const auto wrong = std::ranges::find_if(problems, [](const auto& d) { return has_errors({d}); });
    if (wrong != problems.end())
      return Failure{name.empty() ? fmt::format("the text has errors, the first: {}", wrong->message)
                                  : fmt::format("`@{}`, or what it needs, has errors, the first: {}", name,
                                                wrong->message)};
  }
  LineOrigins origins;
  auto text = stage == kDerivative
                  ? derivative_text(session, session.module_of(source), name)
                  : source_stage(session, compiler, source, name, stage, &origins, loops::print_with_costs);
  if (!text) return text.error();
  SourceLines lines(session, source);
  return IrDocument{std::move(*text), map_of(lines, origins)};
}

Result<IrDocument> ir_document(Session& session, const IrRequest& request, const CompilerOptions& options) {
  for (const auto& [path, text] : request.texts)
    if (path != request.path) session.open_file(path, text);
  const auto own = request.texts.find(request.path);
  const SourceId source = session.open_file(request.path, own == request.texts.end() ? "" : own->second);
  Compiler compiler(session, options);
  return ir_document(session, compiler, source, request.function, request.stage);
}

}  // namespace quern::ide
