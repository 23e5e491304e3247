#pragma once
// `:plot`, `:hist`, `:image` and `:summary`.

#include <string>

namespace quern {

class Workspace;

bool plot_values(Workspace& workspace, const std::string& expression);
bool show_histogram(Workspace& workspace, const std::string& expression);
bool show_image(Workspace& workspace, const std::string& expression);
bool show_summary(Workspace& workspace, const std::string& expression);

}  // namespace quern
