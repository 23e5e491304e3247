#pragma once
// `scan_over(f, init, xs)` and `vmap(f)`: a function applied to the rows of tensors.

#include <string>

#include "frontend/infer/walk/walk.h"
#include "frontend/syntax/called_words.h"

namespace quern {

class OverRows : public WalkPart {
 public:
  OverRows(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  /// A call of one of these words.
  template <CalledWord>
  DraftPtr call(SyntaxPtr s, Type wanted);

 private:
  /// After a diagnostic of its call: reports nothing of what is unknown of the function.
  void give_up(DraftPtr function);

  /// `scan_over(function, initial, over)`.
  struct Scan {
    SyntaxPtr at, function_text, over_text;
    uint32_t region;  ///< of the function
    Type type;        ///< of the function at this use
    DraftPtr function, initial, over;
    bool is_reverse;
    DraftPtr callee;                  ///< the function, or a variable bound to it
    const Variable* bound = nullptr;  ///< that variable
    DraftPtr waiting = nullptr;       ///< stands for the whole
  };
  DraftPtr scan(SyntaxPtr s);
  /// Once the rows are known: the function takes them.
  bool attempt_rows(Scan use);
  /// Once the function's result is known. `call` is the step: a call of the function with these parameters.
  bool attempt_result(const Scan& use, std::span<const Variable* const> params, DraftPtr call);
  DraftPtr step_of(const Scan& use, std::span<const Variable* const> params, DraftPtr call, Type step);
  bool fail(const Scan& use, SyntaxPtr at, std::string message);

  DraftPtr map(SyntaxPtr s);
  /// `vmap(function)`.
  struct Map {
    SyntaxPtr at;
    DerivativeDraft* draft;
    Type type;        ///< of the function at this use
    Dim count;        ///< of the rows
    uint32_t region;  ///< of the function
  };
  bool attempt_map(const Map& use);
  bool fail(SyntaxPtr s, DerivativeDraft& draft, std::string message);
};

}  // namespace quern
