#include "ide/words.h"

#include <algorithm>

namespace quern::ide {

namespace {

/// A scope of its own: the kinds have short names in the table alone.
struct Table {
  using enum WordKind;
  static constexpr Word kWords[] = {
      {"def", Declaration, "def @f[n](%x: type, …, attribute: kind = value) -> type { … }",
       "A function. Its type is inferred where it is not written; definitions see each other in any order.",
       "def @twice(%x: float32) -> float32 { %x + %x }"},
      {"op", Declaration,
       "op name(%x: Tensor[(n, m), t], …, attribute: kind = value) -> Tensor[…] { [i, j] => … }",
       "An operator, defined by the element at each index of its result.",
       "op twice(%x: Tensor[s, t]) -> Tensor[s, t] { [..i] => %x[..i] * 2 }"},
      {"type", Declaration, "type Name[A] { Constructor(field: type, …), … }",
       "A data type, by its constructors. One constructor with named fields is a record.",
       "type Net { Net(weight: Tensor[(3, 4), float32], bias: Tensor[(3,), float32]) }"},
      {"extern", Declaration, "extern op name(…) -> type",
       "An operator whose kernel is in C++, or a type of such values.", ""},
      {"import", Declaration, "import \"file.relay\" as name",
       "The declarations of another file, with `name.` before them; without `as` under their own names.",
       "import \"layers.relay\" as layers"},
      {"test", Declaration, "test \"name\" { … }", "Statements that `quern test` runs.",
       "test \"doubles\" { assert_equal(1 + 1, 2) }"},
      {"infix", Declaration, "infix \"symbol\" operator", "The operator that a symbol stands for.",
       "infix \"+\" add"},
      {"static", Declaration, "static @f(x, …) { … }",
       "A function of the compile-time language, for types and attributes; before a body, `static n = …` "
       "names "
       "a value of it.",
       "static @half(n) { n / 2 }"},
      {"let", Statement, "let %x: type = value;", "Binds a variable, which is seen after the `;`.",
       "let %x = [1.0, 2.0];"},
      {"free_var", Statement, "free_var %x: type;", "A variable without a value, as TVM prints them.", ""},
      {"fn", Expression, "fn (%x: type, …) -> type { … }", "A function without a name.",
       "(fn (%x: float32) { %x * %x })(3.0)"},
      {"if", Expression, "if (condition) { … } else { … }",
       "A choice by a condition of rank 0. It is a value.", "if (2 > 1) { \"yes\" } else { \"no\" }"},
      {"else", Expression, "if (condition) { … } else { … }",
       "What an `if` is otherwise; after a read, what stands outside of the tensor: `%x[i - 1] else 0`.",
       "if (2 > 1) { 1 } else { 0 }"},
      {"match", Expression, "match value { pattern => value, … }",
       "A choice by constructor. The patterns cover every value.",
       "match Cons(1, Nil) { Cons(%first, _) => %first, Nil => 0 }"},
      {"match?", Expression, "match? value { pattern => value, … }",
       "A `match` that need not cover every value; one that fits no pattern ends the run.",
       "match? Cons(1, Nil) { Cons(%first, _) => %first }"},
      {"for", Expression, "[value for k < n if condition]",
       "A list or a tuple by its members, known at compile time.", ""},
      {"and", Expression, "a and b", "Whether both hold; `b` is not evaluated where `a` does not.",
       "2 > 1 and 1 > 0"},
      {"or", Expression, "a or b", "Whether one holds; `b` is not evaluated where `a` does.",
       "2 > 1 or 1 > 2"},
      {"not", Expression, "not a", "Whether it does not hold.", "not (1 > 2)"},
      {"meta", Expression, "meta[relay.Constant][k]", "A constant of the file's metadata.", ""},
      {"True", Value, "True", "The bool that holds.", ""},
      {"False", Value, "False", "The bool that does not hold.", ""},
      {"None", Value, "None", "The `Option` without a value; of an attribute, that it is absent.", ""},
      {"as", Clause, "import \"file.relay\" as name", "The name that stands before what an import brings.",
       "import \"layers.relay\" as layers"},
      {"where", Clause, "where condition : \"message\"",
       "What a call has to meet; else the message is reported.", ""},
      {"warn", Clause, "warn condition : \"message\" fix \"…\"", "What a call that does so is warned of.",
       ""},
      {"when", Clause, "when condition { … }", "A body for the calls that meet a condition.", ""},
      {"gradient", Clause, "gradient (%d: type) { … }",
       "The gradients of the parameters, from that of the result, in place of the derived ones.", ""},
      {"shape", Clause, "shape (…) { … }", "The result's dims that depend on values.", ""},
      {"lowering", Clause, "lowering \"…\" needs \"…\"",
       "The instruction that computes an operator, by LLVM's name.", ""},
      {"schedule", Clause, "schedule { o, i = split(l, 8); vectorize(i, 8) }",
       "How the loops of an operator, or of one use of it, run.",
       "([i < 16] => cast<float32>(i)) schedule { vectorize(i, 8) }"},
#define QUERN_CALLED(name, text, turn, part, form, about, example) {text, Form, form, about, example},
#include "frontend/syntax/called_words.def"
#undef QUERN_CALLED
      {"select", IndexForm, "select(condition, then, otherwise)", "One of two elements.", ""},
      {"cast", IndexForm, "cast<dtype>(element)", "An element in another dtype.", ""},
      {"view", IndexForm, "view(tensor)", "The elements of a tensor in the shape of the result, row-major.",
       ""},
      {"first", IndexForm, "first(element for k < n) else otherwise",
       "The first of the reads that is inside of its tensor.", ""},
      {"lowest", IndexForm, "lowest<dtype>()", "The lowest number of a dtype.", ""},
      {"highest", IndexForm, "highest<dtype>()", "The highest number of a dtype.", ""},
      {"sum[", Bracket, "sum[k, r < n] element",
       "The sum over indices; without `< n` over the extent that an index has in what is read.",
       "[i < 2] => sum[k < 3] cast<float32>(i * k)"},
      {"prod[", Bracket, "prod[k] element", "The product over indices.", ""},
      {"max[", Bracket, "max[k] element", "The greatest over indices.", ""},
      {"min[", Bracket, "min[k] element", "The least over indices.", ""},
      {"argmax[", Bracket, "argmax[k] element", "The index of the greatest, the first of equals.", ""},
      {"argmin[", Bracket, "argmin[k] element", "The index of the least, the first of equals.", ""},
      {"any[", Bracket, "any[k] condition", "Whether a condition holds at one of the indices.", ""},
      {"all[", Bracket, "all[k] condition", "Whether a condition holds at all indices.", ""},
      {"scan[", Bracket, "scan[k < n] op element",
       "Running results, as of a cumulative sum: `scan[k <= i] + %x[k]`.", ""},
      {"scatter[", Bracket, "scatter[m < n] initial at (index, …) += element",
       "Elements put to places that are computed, in the order of `m`.", ""},
      {"Tensor", Type, "Tensor[(n, 4, ?), float32]",
       "A tensor: its shape and its dtype. `?` is an extent that is known as it runs.",
       "let %x: Tensor[(2, 3), float32] = zeros(shape=(2, 3));"},
      {"Ref", Type, "Ref[type]", "A reference to a value of a type.", ""},
      {"int", Kind, "attribute: int = 1", "An integer.", ""},
      {"float", Kind, "attribute: float = 0.5", "A number.", ""},
      {"bool", Kind, "attribute: bool = True", "`True` or `False`; as a type, the dtype of conditions.", ""},
      {"string", Kind, "attribute: string = \"NCHW\"", "A text.", ""},
      {"dtype", Kind, "attribute: dtype = \"float32\"", "A dtype; `\"\"` is none.", ""},
      {"dim", Kind, "attribute: dim", "An extent, which may be a dim of the place where it is given.", ""},
      // `shape` is a clause too.
  };
};
constexpr auto& kWords = Table::kWords;

}  // namespace

std::span<const Word> words() { return kWords; }

const Word* find_word(std::string_view text) {
  const auto* found = std::ranges::find(kWords, text, &Word::text);
  return found == std::end(kWords) ? nullptr : found;
}

}  // namespace quern::ide
