#pragma once
// `load` and `save`: their relations, and which types files can hold.

#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/infer/relations/relations.h"
#include "frontend/static/stored_tensors.h"

namespace quern {

class Files : public Component {
 public:
  Files(Context& context, Relations& relations) : Component(context), relations_(relations) {}

  /// An annotation determines the type of a load; otherwise the relation stays queued until everything else is
  /// settled.
  DraftPtr load(SyntaxPtr s, DraftSpan args, std::span<const std::string_view> texts);
  /// `save` and `restore`. `path`: as far as it is known, with its ending; "" where that is not known.
  /// `are_tokens`: what is saved is the ids of tokens.
  void save(SyntaxPtr s, IntrinsicKind kind, std::string_view path, DraftPtr value, bool are_tokens);
  /// Types the `load`s whose use leaves a part of the type open, by the headers of their files.
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
    IntrinsicKind kind;
    std::string_view path;  ///< unless it is a `load`
    DraftPtr value;
    bool are_tokens = false;
  };
  void check(const Use& use, Type type);
  void check_stored(const Use& use, const std::vector<StoredTensor>& tensors);
  /// Of the file's header, or an error after a diagnostic.
  Type type_of(const LoadDraft& load, SyntaxPtr at);

  Relations& relations_;
  std::vector<Use> uses_;
};

}  // namespace quern
