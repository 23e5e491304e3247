#pragma once
// Typed definitions as the interpreter takes them: after passes.

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "ir/expr/expr.h"

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

/// After a pass; as they are where its name is empty.
class FunctionsAfter final : public ChangedFunctions {
 public:
  FunctionsAfter(FunctionSource& functions, std::string pass)
      : ChangedFunctions(functions), pass_(std::move(pass)) {}
  Definition after(Definition definition);

 private:
  bool changes(const Definition&) const override { return !pass_.empty(); }
  Definition changed(const Definition& definition) override { return after(definition); }

  const std::string pass_;
};

}  // namespace quern
