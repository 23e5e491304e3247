#pragma once
// Typed definitions as the interpreter takes them: after passes.

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/expr/expr.h"
#include "passes/pipeline.h"

namespace quern {

/// Another source's functions, of which some are others.
class ChangedFunctions : public FunctionSource {
 public:
  explicit ChangedFunctions(FunctionSource& functions) : functions_(functions) {}
  const Definition* function(uint32_t module, std::string_view name) final;
  const Definition* bound(const Variable* variable) final { return functions_.bound(variable); }
  std::vector<TypedConstructor> constructors(Origin user, Type data) final {
    return functions_.constructors(user, data);
  }
  std::shared_ptr<const OpInstance> instance(const OpInstance& called) override {
    return functions_.instance(called);
  }
  std::vector<std::string> devices() final { return functions_.devices(); }

 protected:
  /// Whether this one, which has a body, is another.
  virtual bool changes(const Definition& definition) const = 0;
  virtual Definition changed(const Definition& definition) = 0;

  FunctionSource& functions_;

 private:
  std::unordered_map<const Definition*, Definition> changed_;
};

/// With `grad` replaced by functions.
class ExpandedFunctions final : public ChangedFunctions {
 public:
  using ChangedFunctions::ChangedFunctions;
  std::shared_ptr<const OpInstance> instance(const OpInstance& called) override;

 private:
  bool changes(const Definition& definition) const override;
  Definition changed(const Definition& definition) override;

  using Instance = std::shared_ptr<const OpInstance>;
  std::unordered_map<const OpInstance*, std::pair<Instance, Instance>>
      instances_;  ///< originals, and expanded ones
};

/// After passes.
class FunctionsAfter final : public ChangedFunctions {
 public:
  FunctionsAfter(FunctionSource& functions, std::vector<Pass> passes)
      : ChangedFunctions(functions), passes_(std::move(passes)) {}
  Definition after(Definition definition);

 private:
  bool changes(const Definition&) const override { return !passes_.empty(); }
  Definition changed(const Definition& definition) override { return after(definition); }

  const std::vector<Pass> passes_;
};

}  // namespace quern
