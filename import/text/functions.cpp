#include "import/text/functions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

namespace quern::import_text {

namespace {

using Path = std::vector<std::string>;

/// Parts that stand deeper in a model are not looked for.
constexpr size_t kDeepest = 6;
/// Shorter parts read better where they are.
constexpr size_t kShortest = 3;

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The text with each variable and each weight replaced.
template <class OfVariable, class OfWeight>
std::string replaced(std::string_view text, const OfVariable& of_variable, const OfWeight& of_weight) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == kMark) {
      const auto [number, end] = weight_at(text, at);
      result += of_weight(number);
      at = end;
    } else if (text[at] == '%' && at + 1 < text.size() && is_name(text[at + 1])) {
      size_t end = at + 1;
      while (end < text.size() && is_name(text[end])) ++end;
      result += of_variable(std::string(text.substr(at, end - at)));
      at = end;
    } else {
      result += text[at++];
    }
  }
  return result;
}

bool begins_with(const Path& path, const Path& prefix) {
  return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

/// Lines of one part, with what they take from outside and give to it.
struct Run {
  size_t begin = 0, end = 0;
  Path part;
  std::string signature;               ///< equal for runs that one function can stand for
  std::vector<std::string> arguments;  ///< variables and marks of weights, in order of their first use
  std::vector<Type> types;             ///< theirs
  std::vector<std::string> results;    ///< variables that others use
  bool has_weights = false;            ///< under its part
};

class Finder {
 public:
  Finder(std::vector<Line> lines, const std::string& result, const Weights::Record& record,
         Document& document)
      : lines_(std::move(lines)), record_(record), document_(document), used_at_end_(variables_in(result)) {
    for (const Term& variable : document.variables) types_[variable.text] = variable.type;
  }

  std::vector<Line> run() {
    for (size_t depth = 1; depth <= kDeepest; ++depth) replace_runs(depth);
    return std::move(lines_);
  }

 private:
  void replace_runs(size_t depth) {
    std::map<std::string, std::vector<Run>> groups;
    for (size_t begin = 0; begin < lines_.size();) {
      size_t end = begin + 1;
      if (lines_[begin].scope.size() < depth) {
        begin = end;
        continue;
      }
      const Path part(lines_[begin].scope.begin(),
                      lines_[begin].scope.begin() + static_cast<ptrdiff_t>(depth));
      while (end < lines_.size() && begins_with(lines_[end].scope, part)) ++end;
      if (end - begin >= kShortest)
        if (auto found = examine(begin, end, part)) {
          std::vector<Run>& equal_runs = groups[found->signature];
          equal_runs.push_back(*std::move(found));
        }
      begin = end;
    }
    std::map<size_t, std::pair<Run, std::string>> calls;  // by the first line
    for (const auto& [signature, runs] : groups) {
      if (runs.size() < 2) continue;
      const std::string name = define(runs.front());
      for (const Run& run : runs) calls[run.begin] = {run, name};
    }
    std::vector<Line> result;
    for (size_t i = 0; i < lines_.size();) {
      auto call = calls.find(i);
      if (call == calls.end()) {
        result.push_back(std::move(lines_[i++]));
      } else {
        result.push_back(call_of(call->second.first, call->second.second));
        i = call->second.first.end;
      }
    }
    lines_ = std::move(result);
  }

  std::optional<Run> examine(size_t begin, size_t end, const Path& part) {
    Run run{begin, end, part, "", {}, {}, {}, false};
    std::map<std::string, std::string> names;  // of variables and weights in the signature
    size_t inner = 0;
    const auto outer = [&](const std::string& text, Type type) {
      auto [name, is_new] = names.try_emplace(text, fmt::format("%x{}", run.arguments.size()));
      if (is_new) {
        run.arguments.push_back(text);
        run.types.push_back(type);
      }
      return name->second;
    };
    bool is_known = true;
    const auto of_variable = [&](const std::string& name) {
      if (auto known = names.find(name); known != names.end()) return known->second;
      auto type = types_.find(name);
      // What a line binds within itself.
      if (type == types_.end()) return name;
      if (is_bound_within(name, begin, end)) return names[name] = fmt::format("%b{}", inner++);
      return outer(name, type->second);
    };
    const auto of_weight = [&](size_t number) -> std::string {
      const Term& weight = document_.weights.weight(number);
      const Path path = path_of(weight.name);
      if (!begins_with(path, part)) return outer(fmt::format("{}{}{}", kMark, number, kMark), weight.type);
      run.has_weights = true;
      return fmt::format("%w.{}:{}",
                         fmt::join(path.begin() + static_cast<ptrdiff_t>(part.size()), path.end(), "."),
                         to_string(weight.type));
    };
    for (size_t i = begin; i < end; ++i) {
      run.signature += replaced(lines_[i].text, of_variable, of_weight);
      for (const std::string& bound : lines_[i].bound)
        run.signature += " " + (bound == "_" ? bound : of_variable(bound));
      run.signature += "\n";
    }
    for (Type type : run.types) run.signature += to_string(type) + ";";
    for (size_t i = begin; i < end; ++i)
      for (const std::string& bound : lines_[i].bound)
        if (bound != "_" && is_used_behind(bound, end)) {
          run.results.push_back(bound);
          run.signature += "-> " + names[bound] + ":" + to_string(types_.at(bound));
        }
    // A function has no dims but those of its arguments.
    for (Dim dim : document_.typer.dims_in(run.signature))
      is_known = is_known && std::ranges::any_of(run.types, [&](Type type) {
                   bool has = false;
                   for_each_dim_var(type, [&](Dim own) { has = has || own == dim; });
                   return has;
                 });
    if (is_known && run.has_weights) {
      auto record = record_.parts.find(part);
      is_known = record != record_.parts.end();
      if (is_known) run.signature += " of " + record->second.second;
    }
    return is_known && !run.results.empty() ? std::optional(std::move(run)) : std::nullopt;
  }

  bool is_bound_within(const std::string& name, size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i)
      if (std::ranges::find(lines_[i].bound, name) != lines_[i].bound.end()) return true;
    return false;
  }

  bool is_used_behind(const std::string& name, size_t end) const {
    if (used_at_end_.contains(name)) return true;
    for (size_t i = end; i < lines_.size(); ++i)
      if (variables_in(lines_[i].text).contains(name)) return true;
    return false;
  }

  /// Writes the definition for which this run is the example; its name.
  std::string define(const Run& run) {
    Names names;
    std::map<std::string, std::string> own;
    std::vector<std::string> parameters, results, result_types;
    std::vector<Type> types = run.types;
    if (run.has_weights) {
      names.unique("w");
      parameters.push_back("%w: " + record_.parts.at(run.part).second);
    }
    std::string scope = fmt::format("%{}_", fmt::join(run.part, "_"));
    const auto named = [&](const std::string& text, std::string_view hint) {
      auto [name, is_new] = own.try_emplace(text);
      if (is_new) name->second = "%" + names.unique(hint);
      return name->second;
    };
    for (size_t i = 0; i < run.arguments.size(); ++i) {
      const bool is_weight = run.arguments[i].front() == kMark;
      const std::string hint =
          is_weight ? path_of(document_.weights.weight(weight_at(run.arguments[i], 0).first).name).back()
          : run.arguments.size() == 1 ? "x"
                                      : fmt::format("x{}", i + 1);
      parameters.push_back(fmt::format("{}: {}", named(run.arguments[i], hint), to_string(run.types[i])));
    }
    const auto of_variable = [&](const std::string& name) {
      if (own.contains(name) || !types_.contains(name)) return own.contains(name) ? own.at(name) : name;
      const bool is_scoped =
          name.starts_with(scope) && std::isalpha(static_cast<unsigned char>(name[scope.size()]));
      if (is_scoped) return named(name, name.substr(scope.size()));
      std::string_view hint = std::string_view(name).substr(1);
      while (!hint.empty() && std::isdigit(static_cast<unsigned char>(hint.back()))) hint.remove_suffix(1);
      return named(name, hint.empty() || hint.ends_with('_') ? "y" : hint);
    };
    const auto of_weight = [&](size_t number) {
      const std::string mark = fmt::format("{}{}{}", kMark, number, kMark);
      if (own.contains(mark)) return own.at(mark);
      const std::string& part = record_.parts.at(run.part).first;
      return fmt::format("%w{}", record_.projections[number].substr(part.size()));
    };
    std::vector<Line> body;
    for (size_t i = run.begin; i < run.end; ++i) {
      Line line = lines_[i];
      line.text = replaced(line.text, of_variable, of_weight);
      for (std::string& bound : line.bound)
        if (bound != "_") bound = of_variable(bound);
      body.push_back(std::move(line));
    }
    for (const std::string& result : run.results) {
      results.push_back(own.at(result));
      result_types.push_back(to_string(types_.at(result)));
    }
    const auto joined = [](const std::vector<std::string>& parts) {
      return parts.size() == 1 ? parts[0] : fmt::format("({})", fmt::join(parts, ", "));
    };
    std::string name = "@" + document_.names.unique(name_of(run.part));
    document_.definitions.push_back(fmt::format("def {}{}({}) -> {} {}\n", name, dim_parameters(types),
                                                fmt::join(parameters, ", "), joined(result_types),
                                                block_of(body, joined(results))));
    return name;
  }

  /// The last name of the part that is no number.
  static std::string name_of(const Path& part) {
    for (size_t i = part.size(); i-- > 0;) {
      std::string_view name = part[i];
      if (is_number(name)) continue;
      // "layer_0" stands for all of its kind.
      if (const size_t end = name.rfind('_');
          end != 0 && end != std::string_view::npos && is_number(name.substr(end + 1)))
        name = name.substr(0, end);
      return std::string(name);
    }
    return "part";
  }

  Line call_of(const Run& run, const std::string& name) {
    std::vector<std::string> arguments;
    if (run.has_weights) arguments.push_back("%params." + record_.parts.at(run.part).first);
    arguments.insert(arguments.end(), run.arguments.begin(), run.arguments.end());
    return {run.results, fmt::format("{}({})", name, fmt::join(arguments, ", ")), {}};
  }

  std::vector<Line> lines_;
  const Weights::Record& record_;
  Document& document_;
  std::set<std::string> used_at_end_;
  std::map<std::string, Type> types_;
};

}  // namespace

std::vector<Line> used_lines(std::vector<Line> lines, const std::string& result) {
  std::set<std::string> used = variables_in(result);
  std::vector<Line> kept;
  for (size_t i = lines.size(); i-- > 0;) {
    Line& line = lines[i];
    for (std::string& bound : line.bound)
      if (!used.contains(bound) && line.bound.size() > 1) bound = "_";
    if (std::ranges::none_of(line.bound, [&](const std::string& bound) { return used.contains(bound); }))
      continue;
    used.merge(variables_in(line.text));
    kept.push_back(std::move(line));
  }
  std::ranges::reverse(kept);
  return kept;
}

std::vector<Line> with_functions(std::vector<Line> lines, const std::string& result,
                                 const Weights::Record& record, Document& document) {
  return Finder(std::move(lines), result, record, document).run();
}

}  // namespace quern::import_text
