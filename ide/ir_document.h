#pragma once
// What a text becomes at a stage of compilation, with the lines of the source that its lines come from.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/base/result.h"
#include "session/run/compiler.h"
#include "session/session.h"

namespace quern::ide {

/// Lines of a text, both included, counted from 0.
struct Lines {
  uint32_t first, last;
  friend bool operator==(const Lines&, const Lines&) = default;
};

/// Lines of the document, each of which comes from all of these lines of the source.
struct MappedLines {
  Lines shown;
  std::vector<Lines> source;  ///< apart from each other, in order
  friend bool operator==(const MappedLines&, const MappedLines&) = default;
};

struct IrDocument {
  std::string text;
  /// In order, and without lines that come from nowhere in the source, such as `}`. A line of the source may be in
  /// several of them.
  std::vector<MappedLines> map;
};

/// The stage of a function's gradient as a definition; it is none of its own way.
inline constexpr const char* kDerivative = "derivative";

/// A source, or its definition `@function` where that is not empty, at a stage of Compiler::stages() or as its
/// derivative. Fails with the reason where it becomes nothing: it has errors, there is no such stage or definition.
///
/// A line comes from where the expressions that begin on it begin in the source; what was inlined also from its call.
/// From `schedule` on, the lines of a kernel come from all expressions that are fused into it. A derivative's come from
/// nowhere.
Result<IrDocument> ir_document(Session& session, Compiler& compiler, SourceId source,
                               const std::string& function, const std::string& stage);

/// The same of a file as it stands in an editor.
struct IrRequest {
  std::string path;                          ///< of the file
  std::map<std::string, std::string> texts;  ///< of files that are open, by path, this one included
  std::string function, stage;
};
/// `session` is new.
Result<IrDocument> ir_document(Session& session, const IrRequest& request, const CompilerOptions& options);

}  // namespace quern::ide
