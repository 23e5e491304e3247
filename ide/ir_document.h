#pragma once
// The IR of a text at a stage of compilation, with the source lines that its lines come from.

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
  std::vector<Lines> source;  ///< disjoint, in order
  friend bool operator==(const MappedLines&, const MappedLines&) = default;
};

struct IrDocument {
  std::string text;
  /// In order, without lines that have no origin in the source, such as `}`. A source line may be in several of them.
  std::vector<MappedLines> map;
};

/// The stage of a function's gradient as a definition; it is not in the pipeline.
inline constexpr const char* kDerivative = "derivative";

/// A source, or its definition `@function` if that is not empty, at a stage of Compiler::stages() or as its
/// derivative. Fails with the reason: it has errors, or there is no such stage or definition.
///
/// A line comes from the lines where its expressions begin in the source; inlined code also from its call. From
/// `schedule` on, the lines of a kernel come from all expressions that are fused into it. Those of a derivative have no
/// origin.
Result<IrDocument> ir_document(Session& session, Compiler& compiler, SourceId source,
                               const std::string& function, const std::string& stage);

/// The same for a file as it is in an editor.
struct IrRequest {
  std::string path;                          ///< of the file
  std::map<std::string, std::string> texts;  ///< of files that are open, by path, this one included
  std::string function, stage;
};
/// `session` is new.
Result<IrDocument> ir_document(Session& session, const IrRequest& request, const CompilerOptions& options);

}  // namespace quern::ide
