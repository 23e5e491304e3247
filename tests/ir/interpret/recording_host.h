#pragma once
// The outside world of an evaluation under test.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "ir/interpret/evaluation.h"

namespace quern {

/// Keeps what is printed and saved; loads what `files` has: "path:entry".
class RecordingHost final : public Host {
 public:
  std::string log;
  std::map<std::string, Value, std::less<>> files;
  std::function<void()> on_print = [] {};
  void print(std::string_view line) override {
    log += std::string(line) + "\n";
    on_print();
  }
  Result<Value> load(std::string_view path, std::string_view entry, Type) override {
    auto found = files.find(std::string(path) + ":" + std::string(entry));
    if (found == files.end()) return Failure{"there is no file " + std::string(path)};
    return found->second;
  }
  Result<Done> save(std::string_view path, std::string_view, const Value& value, Type) override {
    if (path.empty()) return Failure{"a path is wanted"};
    files[std::string(path) + ":"] = value;
    return Done();
  }
  Result<std::optional<Value>> restore(std::string_view path, Type) override {
    auto found = files.find(std::string(path) + ":");
    return found == files.end() ? std::optional<Value>() : found->second;
  }
};

}  // namespace quern
