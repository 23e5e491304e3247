#pragma once
// `load` and `save`: what they wait for, and which types files can hold.

#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/infer/relations/relations.h"

namespace quern {

class Files : public Component {
 public:
  Files(Context& context, Relations& relations) : Component(context), relations_(relations) {}

  /// An annotation decides its type; without one the relation stays in the queue until the rest is settled.
  DraftPtr load(SyntaxPtr s, std::string_view path, std::string_view entry);
  void save(SyntaxPtr s, std::string_view path, DraftPtr value);
  /// Types of `load`s that nothing but their files' headers decide.
  void load_types();
  /// Reports each `load` and `save` of a type that files cannot hold.
  void check();
  /// The annotations of the values of `let`s.
  std::unordered_map<SyntaxPtr, SyntaxPtr> annotations;

 private:
  /// A `load` or `save`, looked at when all types are settled.
  struct Use {
    SyntaxPtr at;
    uint32_t declaration;
    bool is_load;
    std::string_view path;
    DraftPtr value;
  };
  void check(const Use& use, Type type);

  Relations& relations_;
  std::vector<Use> uses_;
};

}  // namespace quern
