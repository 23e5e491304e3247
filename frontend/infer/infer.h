#pragma once
// Type inference: syntax to typed IR (Roesch 2020, sections 3.2 and 3.3: Hindley-Milner with a queue of
// relations).
//
// One walk over the syntax makes drafts whose types may be unknown (draft/) and queues a relation
// (relations/) for each construct that waits for a type: an operator call, a field, an index expression. The
// queue runs to its fixpoint; undecided literals take their defaults; anything left requires an annotation
// (solve/). A second walk over the drafts makes the final, interned nodes (finish/).

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/infer/context/gradient_types.h"
#include "frontend/infer/context/inferred.h"
#include "frontend/infer/names/type_source.h"

namespace quern {

/// The annotations of a definition if they are complete; nothing for others. What they report is left to the inference
/// of the body.
std::optional<Annotations> annotations_of(const Declaration& def, Scope& scope);

/// Infers a group of mutually recursive definitions; one Inferred per member, in order.
std::vector<Inferred> infer_group(const std::vector<const Declaration*>& group, Scope& scope);

/// The same, specialised to the request's parameter types of one member: runnable definitions of a group that
/// is polymorphic beyond dims and types. Their names are `specialised_name`s.
std::vector<Inferred> infer_copy(const std::vector<const Declaration*>& group, const InstanceRequest& request,
                                 Scope& scope);
/// The name of a group's member in the copy for a request: `f{…}`.
std::string specialised_name(std::string_view member, const InstanceRequest& request);

/// Infers a top-level statement.
Inferred infer_statement(const Declaration& statement, Scope& scope);

/// Checks an operator's text as far as possible without a call: at its default attributes, with unknown dims.
Diagnostics check_operator(const Declaration& op, Scope& scope);

/// A definition with attributes or packs, at an instance named by the request's key.
Inferred infer_instance(const Declaration& def, const InstanceRequest& request, Scope& scope);

/// An instance as its callers see it: without a definition.
std::shared_ptr<OpInstance> instance_head(const InstanceRequest& request);
/// The typed definition of an operator at an instance; `function` is null after diagnostics.
std::shared_ptr<const OpInstance> make_instance(const InstanceRequest& request, Scope& scope,
                                                Diagnostics& diagnostics);

/// Names of other definitions (`@f`) in a declaration, for grouping recursion.
std::vector<std::string> referenced_globals(SyntaxPtr syntax);

}  // namespace quern
