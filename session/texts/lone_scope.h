#pragma once

#include <utility>

#include "frontend/infer/infer.h"

namespace quern {

/// The scope of a text that stands alone: it knows nothing of the rest of the program, and remembers whether it was
/// asked. What a computation finds out without a question is so in every scope.
class LoneScope final : public Scope {
 public:
  bool was_asked() const { return was_asked_; }

  uint32_t module() const override { return was_asked_ = true, 0; }
  Scope& home(const Declaration&) override { return was_asked_ = true, *this; }
  bool has_global(std::string_view) override { return nothing(); }
  const Declaration* global(std::string_view) override { return nothing(); }
  const Declaration* op(std::string_view) override { return nothing(); }
  const Declaration* static_function(std::string_view) override { return nothing(); }
  std::string infix(std::string_view) override { return nothing(); }
  const Declaration* type_declaration(std::string_view) override { return nothing(); }
  const DataHeader* data_header(std::string_view) override { return nothing(); }
  const TypeAlias* alias(std::string_view) override { return nothing(); }
  const DataDefinition* data(std::string_view) override { return nothing(); }
  const DataDefinition* data_of(Type) override { return nothing(); }
  const DataDefinition* data_of_constructor(std::string_view) override { return nothing(); }
  const TopLevelVariable* variable(std::string_view) override { return nothing(); }
  std::shared_ptr<const TopLevelVariable> shared_variable(std::string_view) override { return nothing(); }
  bool has_top_level_variable(std::string_view) override { return nothing(); }
  bool in_broken_declaration(std::string_view) override { return nothing(); }
  bool in_broken_import(std::string_view) override { return nothing(); }
  const Scheme* scheme(std::string_view) override { return nothing(); }
  const Annotations* annotations(std::string_view) override { return nothing(); }
  Diagnostics schedule_problems(const FnExpr&) override { return nothing(); }
  void specialise(const InstanceRequest&) override { was_asked_ = true; }
  const Inferred* specialised(const InstanceRequest&) override { return nothing(); }
  InstanceAnswer instance(InstanceRequest) override { return nothing(); }
  const Metadata* metadata(uint32_t) override { return nothing(); }
  std::optional<int> tvm(uint32_t) override { return nothing(); }
  bool warns_about(uint32_t) override { return nothing(); }
  Result<Type> file_type(std::string_view, std::string_view) override { return was_asked_ = true, Failure{}; }
  std::vector<std::string> names(Names) override { return nothing(); }

 private:
  struct Nothing {
    template <class T>
    operator T() const {  // NOLINT(google-explicit-constructor): it is every answer
      return T{};
    }
  };
  Nothing nothing() {
    was_asked_ = true;
    return {};
  }

  mutable bool was_asked_ = false;
};

}  // namespace quern
