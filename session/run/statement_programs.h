#pragma once
// The programs of statements that are evaluated again: an expression that is typed a second time is not optimised
// a second time.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/expr/expr.h"
#include "jit/vm/vm.h"

namespace quern {

/// An optimised expression and the variables it reads.
struct Prepared {
  std::shared_ptr<const Program> program;
  std::vector<const Variable*> inputs;
  Origin origin;
};

/// Another source's answers, recorded.
class RecordedFunctions final : public FunctionSource {
 public:
  explicit RecordedFunctions(FunctionSource& functions) : functions_(&functions) {}
  const Definition* function(uint32_t module, std::string_view name) override;
  const Definition* bound(const Variable* variable) override;
  std::vector<TypedConstructor> constructors(Origin user, Type data) override;
  std::shared_ptr<const OpInstance> instance(const OpInstance& called) override;
  std::vector<std::string> devices() override { return functions_->devices(); }

  /// Whether the source would answer the same now.
  bool still_hold() const;

 private:
  /// The definition lives as long as the record, so that an equal pointer is the same definition.
  struct Named {
    uint32_t module;
    std::string name;
    std::optional<Definition> found;
  };
  struct Bound {
    const Variable* variable;
    std::optional<Definition> found;
  };
  struct Constructors {
    Origin user;
    Type data;
    std::vector<TypedConstructor> found;
  };
  struct Instance {
    const OpInstance* called;  ///< of the statement, or of what was found
    std::shared_ptr<const OpInstance> found;
  };

  FunctionSource* functions_;
  std::vector<Named> named_;
  std::vector<Bound> bound_;
  std::vector<Constructors> constructors_;
  std::vector<Instance> instances_;
};

class StatementPrograms {
 public:
  /// The program kept for an equal expression with this text, if no function that it uses has changed. Its
  /// inputs are this statement's variables; its origins are those of the statement it was made for.
  std::optional<Prepared> find(std::string_view text, const Definition& statement) const;
  /// Keeps a program, unless it makes functions: those refer to the statement they come from. `optimised` is the
  /// expression that it was compiled from.
  void keep(std::string_view text, const Definition& statement, ExprPtr optimised, const Prepared& prepared,
            RecordedFunctions functions);

 private:
  struct Kept {
    Definition statement;
    Prepared prepared;
    RecordedFunctions functions;
  };
  std::unordered_map<std::string, Kept> kept_;  ///< by text
};

}  // namespace quern
