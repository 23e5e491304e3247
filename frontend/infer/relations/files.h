#pragma once
// `load` and `save`: their relations, and which types files can hold.

#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/infer/relations/relations.h"

namespace quern {

class Files : public Component {
 public:
  Files(Context& context, Relations& relations) : Component(context), relations_(relations) {}

  /// An annotation determines its type; otherwise the relation stays queued until everything else is settled.
  DraftPtr load(SyntaxPtr s, std::string_view path, std::string_view entry);
  void save(SyntaxPtr s, std::string_view path, DraftPtr value);
  /// Types the `load`s that only their files' headers determine.
  void load_types();
  /// Reports each `load` and `save` of a type that files cannot hold.
  void check();
  /// The annotations of the values of `let`s.
  std::unordered_map<SyntaxPtr, SyntaxPtr> annotations;

 private:
  /// A `load` or `save`, checked once all types are settled.
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
