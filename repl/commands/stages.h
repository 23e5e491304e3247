#pragma once
// Commands that show what the compiler makes of a definition or an expression.

#include <functional>
#include <string>
#include <string_view>

namespace quern {

class Workspace;
struct Definition;

/// Calls `use` with what a command is about: the definition `@f`, or an expression. Complains where it is
/// neither.
bool with_definition(Workspace& workspace, std::string_view asked, std::string_view command,
                     const std::function<bool(const Definition&)>& use);

/// `request`: an expression or `@f`, with the name of a stage in front of it or without (then it is `typed`);
/// `all` shows every stage, `diff` what each pass changes.
bool show_stage(Workspace& workspace, const std::string& request);
bool show_loops(Workspace& workspace, const std::string& asked);
bool show_llvm(Workspace& workspace, const std::string& asked);
bool show_assembly(Workspace& workspace, const std::string& asked);
/// The passes in order.
bool show_passes(Workspace& workspace, const std::string& nothing);
/// `inline,fuse @f` or `inline,fuse @f as @g`: what these passes alone make of it, shown, and declared.
bool apply_passes(Workspace& workspace, const std::string& request);
/// The kernels as a graph: as text, or in the file after a `>`, a `.dot` or an `.svg`.
bool show_graph(Workspace& workspace, const std::string& request);

}  // namespace quern
