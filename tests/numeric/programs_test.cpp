// Whole programs whose last value, or failure with its place, is known: interpreted, and in every way of
// compiled code.

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/numeric/last_value.h"
#include "tests/ways.h"

namespace quern {
namespace {

struct KnownProgram {
  std::string name, text;
  std::string last;  ///< as JSON, or what its failure holds; the interpreter's where it is empty
};
std::ostream& operator<<(std::ostream& out, const KnownProgram& p) { return out << p.name; }

const std::string kByZero = "error[Q0502]: index arithmetic divides by zero\n--> p.relay:";

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

const std::vector<KnownProgram> kPrograms = {
    // --- index arithmetic that divides by zero stops, wherever its value goes
    {"quotient_by_an_index", "[y < 3] => cast<int32>(7 / y)", kByZero + "1:24"},
    {"remainder_by_an_index", "[y < 3] => cast<int32>(7 % y)", kByZero + "1:24"},
    {"quotient_over_an_extent_of_one", "[i < 1, j < 1] => cast<float32>(i / j)", kByZero + "1:33"},
    {"quotient_that_nobody_reads", "{ let %v = [i < 2] => cast<float32>(i / (1 - i)); [False] }",
     kByZero + "1:37"},
    {"quotient_in_the_index_of_a_constant",
     "{ let %v = full(0.0, shape=(4, 3), dtype=\"float32\");\n"
     "  [i < 3, j < 4] => %v[j / i, 0] else 0.0 }",
     kByZero + "2:21"},
    {"quotient_beside_an_index_outside", "let %v = [[1.0, 2.0]];\n[i < 3] => %v[3, 2 / i] else 0.0",
     kByZero + "2:12"},
    {"quotient_where_a_scatter_goes",
     "{ let %v = [i < 2] => scatter[k < 4] 0 at (min(max(k + 1 / k, 0), 1),) max= 0; [False] }",
     kByZero + "1:23"},
    {"quotient_in_an_arm_not_taken", "[i < 3] => if (i > 0) { cast<int32>(6 / i) } else { 9 }", "[9, 6, 3]"},
    {"quotient_in_an_else_not_reached",
     "let %v = [1.0, 2.0, 3.0];\n[i < 3] => %v[i] else (sum[k < 1] (%v[i % k] else 0.0))", "[1.0, 2.0, 3.0]"},
    {"quotient_by_a_constant_in_an_arm_not_taken",
     "let %v = full(0.0, shape=(4,), dtype=\"float32\");\n"
     "[i < 1, j < 2, k < 4] => if (j >= 2) { %v[k / i] } else { 0.0 }",
     "[[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]]"},
    {"quotient_behind_and", "[i < 3] => i > 0 and 6 / i > 4", "[false, true, false]"},
    {"quotient_beside_a_false_operand",
     "let %a = [False, False, False];\nlogical_and(%a, [i < 3] => 3 % i == 0)", kByZero + "2:28"},

    // --- what is sliced is evaluated once, also where the slice is empty
    {"slice_without_elements_of_what_fails", "([i < 2] => cast<int32>(4 / i))[2:2]", kByZero + "1:25"},
    {"position_of_what_fails",
     "def @f(%c: bool) { if (%c) { ([i < 2] => cast<int32>(4 / i))[1] } else { 7 } }\n@f(False)", "7"},
    {"slice_of_what_counts",
     "def @next(%n: Ref[int32]) -> Tensor[(3,), int32] { %n := !%n + 1; [1, 2, 3] }\n"
     "def @f() { let %n = ref(0); let %a = @next(%n)[0:2]; let %b = @next(%n)[3:3]; (%a, %b, @next(%n)[1:3], "
     "!%n) }\n"
     "@f()",
     "[[1, 2], [], [2, 3], 3]"},

    // --- a branch that is not taken reads nothing
    {"gather_under_if",
     "let %i = [1, 7]; let %x = [1f, 2, 3];\n[u < 2] => if (%i[u] < 3) { %x[%i[u]] } else { 0.0 }",
     "[2.0, 0.0]"},
    {"gather_under_select",
     "let %i = [1, 7]; let %x = [1f, 2, 3];\n[u < 2] => select(%i[u] < 3, %x[%i[u]], 0.0)", "[2.0, 0.0]"},
    {"gather_of_bools_under_select",
     "let %v = [True]; let %at = [0, 0];\n"
     "[i < 2] => select(1f >= 0 and %at[%at[%at[i]]] < 0, %v[%at[i]], 1f >= 1f)",
     "[true, true]"},
    {"sum_over_an_extent_that_a_condition_keeps_positive",
     "let %x = [1.0, 2.0, 3.0];\n[i < 3] => if (1 - i >= 0) { sum[k < 1 - i] %x[k] } else { 5.0 }",
     "[1.0, 0.0, 5.0]"},
    {"argmax_of_what_may_be_empty_under_if",
     "let %x = [3.0, 5.0];\n[i < 2] => if (i < 1) { cast<int32>(argmax[k < 1 - i] %x[k]) } else { 7 }",
     "[0, 7]"},

    // --- the code of a read inside of reads and conditions is no larger than they are
    {"gathers_of_gathers",
     "let %at = [1, 2, 0];\n[i < 3] => " + repeated("%at[", 24) + "i" + repeated("]", 24), "[0, 1, 2]"},
    {"conditions_inside_of_conditions",
     "let %at = [1, 2, 7];\nlet %x = [1f, 2f, 3f];\n[i < 3] => " +
         repeated("if (%at[i] < 3 and %x[%at[i]] > 1.0) { %x[%at[i]] + ", 12) + "0.0" +
         repeated(" } else { -1.0 }", 12),
     "[24.0, 36.0, -1.0]"},

    // --- a running result takes in each term before the one that is asked for
    {"gather_of_a_running_sum_under_if",
     "let %x = [1f, 2, 3];\nlet %at = [0, 7, 1];\n"
     "[i < 3] => if (i >= 2) { scan[j <= i] + %x[%at[j]] } else { 0f }",
     "error[Q0341]: index 7 is out of bounds for axis 0 with extent 3"},
    {"gather_of_a_running_maximum_under_a_reduction",
     "let %x = [1f, 2, 3];\nlet %at = [2];\n"
     "[i < 2] => if (not any[k < 3] (%x[k] + cast<float32>(i) < 0.0)) { scan[j <= i] max %x[%at[0]] }\n"
     "else { 0f }",
     "[3.0, 3.0]"},

    // --- what a reduction starts from, and what it adds up in
    {"minimum_of_infinities", "isinf(min([1.0, 2.0] / [0.0, 0.0]))", "true"},
    {"maximum_of_infinities", "isinf(max([-1.0, -2.0] / [0.0, 0.0]))", "true"},
    {"running_sum_of_halves", "cumsum(ones(shape=(3000,), dtype=\"float16\"))[2999]", "3000.0"},

    // --- names of the program that schedules also make
    {"names_of_split_loops",
     "let %a = [i < 64, j < 64] => cast<float32>((i * 7 + j * 3) % 5);\n"
     "let %b = [i < 64, j < 64] => cast<float32>((i + j * 11) % 7);\n"
     "([i < 64, j < 64] => sum[jo < 64] %a[i, jo] * %b[jo, j])[0] + "
     "([io < 64, ji < 64] => sum[k < 64] %a[io, k] * %b[k, ji])[63]"},

    // --- one tensor of a chain may fail, and is computed once
    {"gather_read_through_two_others",
     "let %x = [[3, 4], [5, 6]];\nlet %at = [1];\n"
     "([[1, 1], [2, 2], [3, 3]] * ([i < 2] => %x[%at[0], i]))[-2]",
     "[10, 12]"},

    // --- derivatives
    {"let_in_an_index_expression",
     "def @f(%x: Tensor[(2,), float64]) -> float64 { sum([i < 2] => { let %t = %x[i] * 2.0; %t * %t }) }\n"
     "grad(@f)([1, 3])",
     "[[8.0, 24.0]]"},
    {"gradient_by_another_name",
     "def @f(%x: Tensor[(2,), float32]) -> float32 { sum(%x * %x) }\nlet %g = @f;\nlet %h = "
     "%g;\ngrad(%h)([1, 3])",
     "[[2.0, 6.0]]"},
    {"gradient_by_a_name_in_a_body",
     "def @f(%x: Tensor[(2,), float32]) -> float32 { sum(%x * %x) }\n"
     "def @slope(%x: Tensor[(2,), float32]) { let %g = @f; let %h = %g; grad(%h)(%x) }\n@slope([1, 3])",
     "[[2.0, 6.0]]"},
    {"tangent_by_another_name",
     "def @f(%x: Tensor[(2,), float32]) -> float32 { sum(%x * %x) }\nlet %g = @f;\n"
     "jvp(%g)([1, 3], [1, 1]).1",
     "8.0"},
    {"shape_clause_added_to_itself",
     "op two(%a: Tensor[(n,), t]) -> Tensor[(?,), t] shape () { 2 } { [i] => %a[i] else 0 }\n"
     "def @f(%x: Tensor[(3,), float32]) -> float32 { sum(two(%x) + two(%x)) }\ngrad(@f)([1, 2, 3])",
     "[[2.0, 2.0, 0.0]]"},
    {"tangent_of_a_shape_clause_beside_a_constant",
     "op two(%a: Tensor[(n,), t]) -> Tensor[(?,), t] shape () { 2 } { [i] => %a[i] else 1 }\n"
     "def @f(%x: Tensor[(1,), float64]) -> float64 {\n"
     "  sum([0f64, 0f64] + { let %v: Tensor[(2,), float64] = two(%x); %v })\n}\n"
     "jvp(@f)([3], [5])",
     "[4.0, 5.0]"},
    {"gather_over_a_falling_extent",
     "def @f(%x: Tensor[(3,), float64]) { let %at = [0, 1, 2]; sum([i < 3] => sum[k < 3 - i] %x[%at[k]]) }\n"
     "grad(@f)([0, 0, 0])",
     "[[3.0, 2.0, 1.0]]"},
    {"sum_over_an_extent_that_falls_where_a_scatter_takes_it",
     "def @f(%x: Tensor[(4,), float64]) {\n  let %v = [j < 2] => scatter[i < 2] 0f64 at (0,) = "
     "{ let %s = sum[k < 2 - i] %x[i]; %s * %s };\n  sum(%v) }\n"
     "jvp(@f)([1, 2, 3, 4], [1, 1, 1, 1])",
     "[4.0, 4.0]"},
    {"tangent_of_clamped_indices",
     R"(def @f(%x: Tensor[(2, 2), float64]) -> float64 {
  let %u: Tensor[(3,), float64] = [a < 3] => %x[a % 2, 0];
  let %v: Tensor[(2, 3, 2), float64] = [a < 2, b < 3, c < 2] =>
    erf(%x[min(max(a - a, 0), 1), (min(max(3 * a + 2, 1) % 4, b / 2) / 1) % 2] + cast<float64>(a));
  let %w: Tensor[(4, 2), float64] = [a < 4, b < 2] => sum[k < 4]
    (select(%v[(((2 * b + 2) % 1) / 3) % 2, min(max(b / 4, 0), 2), min(max(k, 0), 1)] > 0.2974,
            %v[(0 - b) % 2, (k + k) % 3, min(max(k - b, 0), 1)],
            %u[min(max(a - a, 0), 2)])
     / (1.3 + cos((%u[k] else %v[a % 2, (2 - a) % 3, ((5 - k) % 3) % 2])) * 0.7));
  sum(%u * sin(%u + 0.3)) + sum(%v * sin(%v + 0.3)) + sum(%w * sin(%w + 0.3))
}
let %at: Tensor[(2, 2), float64] = [[0.899, -0.3], [-0.5, 0.7]];
let %along: Tensor[(2, 2), float64] = [[-0.8, 0.4], [0.9, 0.2]];
let %difference = (@f(%at + 1e-5 * %along) - @f(%at - 1e-5 * %along)) / 2e-5;
abs(jvp(@f)(%at, %along).1 - %difference) < 1e-7)",
     "true"},
    {"tangent_where_ranges_choose",
     R"(def @f(%x: Tensor[(1, 3), float64]) -> Tensor[(2, 3, 3), float64] {
  [u < 2, p < 3, k < 3] => (%x[max(k, p) - (u + 1), min(u + p, max(u, k))] else %x[0, 0])
}
let %d: Tensor[(1, 3), float64] = [[1, 10, 100]];
max(abs(jvp(@f)(zeros_like(%d), %d).1 - @f(%d))))",
     "0.0"},
    {"tangent_of_recursion",
     "def @f(%x: float32) -> float32 { if (%x > 1.0) { @f(%x / 2.0) } else { %x * %x } }\njvp(@f)(3, 1)",
     "[0.5625, 0.375]"},
    {"tangent_of_a_list",
     "def @f(%l: List[float32]) -> float32 { match (%l) { Nil => 0, Cons(%h, %t) => %h * %h + @f(%t) } }\n"
     "jvp(@f)(Cons(1, Cons(2, Nil)), Cons(1, Cons(10, Nil)))",
     "[5.0, 42.0]"},
    {"tangent_of_a_record_with_an_integer",
     "type Net { Net(w: Tensor[(2, 2), float32], n: int32) }\n"
     "def @f(%n: Net, %x: Tensor[(2,), float32]) { sum(%n.w * %x) * cast(%n.n, dtype=\"float32\") }\n"
     "jvp(@f)(Net(w=[[1, 2], [3, 4]], n=2), [1, 1], Net(w=[[1, 0], [0, 1]], n=5), [1, 0])",
     "[20.0, 12.0]"},
    {"tangent_through_a_reference",
     "def @f(%x: float32) -> float32 { let %c = ref(%x); %c := !%c * 2; %c := !%c * !%c; !%c }\njvp(@f)(3, "
     "1)",
     "[36.0, 24.0]"},
    {"forward_over_reverse",
     "def @sum(%l: List[float32]) -> float32 { match (%l) { Nil => 0, Cons(%h, %t) => %h * %h + @sum(%t) } "
     "}\n"
     "def @f(%x: float32) -> float32 { @sum(Cons(%x, Cons(%x * %x, Nil))) }\n(jvp(grad(@f))(2, 1), "
     "grad(fn (%x) { jvp(@f)(%x, 1).1 })(2))",
     "[[[36.0], [50.0]], [50.0]]"},
    {"tangent_of_a_tensor_of_unknown_extent",
     "op upto(%a: Tensor[(n,), t]) -> Tensor[(?,), t] shape () { 2 } { [i] => %a[i] else 0 }\n"
     "def @f(%x: Tensor[(3,), float32]) { let %c = ref(upto(%x)); %c := exp(!%c) * !%c; sum(!%c) }\n"
     "def @g(%x: Tensor[(3,), float32]) { let %y = upto(%x); if (%x[0] > 5) { sum(%y) } else { sum(%y * %y) "
     "} }\n"
     "(jvp(@f)([0, 0, 0], [1, 1, 1]), jvp(@g)([1, 2, 3], [1, 10, 100]))",
     "[[0.0, 2.0], [5.0, 42.0]]"},
    {"tangents_of_scatters",
     "def @f(%x: Tensor[(3,), float32], %y: Tensor[(2,), float32]) {\n"
     "  let %set = [i < 2] => scatter[k < 3] %y[i] at (0,) = %x[k];\n"
     "  let %most = [i < 2] => scatter[k < 3] %y[i] at (k / 2,) max= %x[k];\n"
     "  let %times = [i < 2] => scatter[k < 3] %y[i] at (k / 2,) *= %x[k];\n  (%set, %most, %times) }\n"
     "jvp(@f)([1, 5, 3], [2, 7], [1, 10, 100], [1000, 10000]).1",
     "[[100.0, 10000.0], [10.0, 10000.0], [5030.0, 30700.0]]"},
    {"tangents_of_maxima_and_running_values",
     "def @f(%x: Tensor[(3,), float32]) {\n"
     "  (max(%x), [i < 3] => scan[k <= i] max %x[k], [i < 3] => scan[k <= i] * %x[k]) }\n"
     "jvp(@f)([2, 5, 3], [1, 10, 100]).1",
     "[10.0, [1.0, 10.0, 10.0], [1.0, 25.0, 1075.0]]"},
    // PyTorch's batch_norm of the same numbers, with training=True.
    {"batch_norm_in_training",
     "nn.batch_norm_train([[1.0, 2], [3, 8]], [2.0, 1], [10.0, 0], [0.0, 4], [1.0, 2], epsilon=0.0, "
     "momentum=0.5)",
     "[[[8.0, -1.0], [12.0, 1.0]], [1.0, 4.5], [1.5, 10.0]]"},
    {"batch_norm_in_training_is_batch_norm_with_the_batchs_own_statistics",
     "let %x = [a < 2, b < 3, c < 4, d < 5] => sin(cast<float32>(a * 61 + b * 17 + c * 7 + d));\n"
     "let %m = mean(%x, axis=[0, 2, 3]);\n"
     "let %v = variance(%x, mean(%x, axis=[0, 2, 3], keepdims=True), axis=[0, 2, 3]);\n"
     "let %one = ones_like(%m);\n"
     "max(abs(nn.batch_norm_train(%x, %one, %m, %m, %v).0 - nn.batch_norm(%x, %one, %m, %m, %v).0)) < 1e-5",
     "true"},
    {"leaves_of_unknown_extent",
     "type Open { Open(x: Tensor[(?,), float32], n: int32) }\n"
     "(map_leaves(fn (%a, %b) { %a * %b }, Open([1, 2, 3], 1), Open([3, 2, 1], 1)), "
     "fold_leaves(fn (%s, %a) { %s + sum(%a) }, 0f, Open([1, 2, 3], 1)), "
     "grad(fn (%o: Open) { fold_leaves(fn (%s, %a) { %s + sum(%a * %a) }, 0f, %o) })(Open([1, 2, 3], 1)))",
     R"([{"ctor": "Open", "fields": [[3.0, 4.0, 3.0], 1]}, 6.0, [{"ctor": "Open", "fields": [[2.0, 4.0, 6.0], 0]}]])"},
    {"gradients_clipped",
     "let %g = (3f, [0f, 4f], 7); let %short = (0.3f, [0f, 0.4f], 7);\n"
     "(@optim.norm(%g), @optim.clip_by_norm(%g, 5.1), @optim.clip_by_norm(%short, 1), "
     "@optim.clip_by_value(%g, 3.5), abs(@optim.norm(@optim.clip_by_norm(%g, 1)) - 1) < 1e-5)",
     "[5.0, [3.0, [0.0, 4.0], 7], [0.3, [0.0, 0.4], 7], [3.0, [0.0, 3.5], 7], true]"},
    {"rate_along_a_cosine",
     "(@optim.cosine(0, 10, 4, 1), @optim.cosine(3, 10, 4, 1), @optim.cosine(4, 10, 4, 1), "
     "abs(@optim.cosine(7, 10, 4, 1) - 0.5) < 1e-6, @optim.cosine(10, 10, 4, 1) < 1e-6, "
     "@optim.cosine(99, 10, 4, 1) < 1e-6, @optim.cosine(0, 0, 0, 1) <= 1)",
     "[0.25, 1.0, 1.0, true, true, true, true]"},
    // --- results in the memory of operands
    {"tensor_that_stays_known_is_not_overwritten",
     "def @run(%n: int32, %w: Tensor[(3, 5), float32]) -> Tensor[(3, 5), float32] {\n"
     "  if (%n == 0) { %w } else { @run(%n - 1, %w * 2 + 1) }\n"
     "}\n"
     "let %w = ones([3, 5], dtype=\"float32\"); let %r = @run(3, %w); (%r[0, 0], sum(%r), sum(%w))",
     "[15.0, 225.0, 15.0]"},
    {"view_of_what_is_added_to",
     "def @run(%n: int32, %a: Tensor[(2, 3), float32], %b: Tensor[(3, 2), float32]) "
     "-> (Tensor[(2, 3), float32], Tensor[(3, 2), float32]) {\n"
     "  if (%n == 0) { (%a, %b) } else { @run(%n - 1, %a + 1, reshape(%a, newshape=(3, 2))) }\n"
     "}\n"
     "@run(3, ones([2, 3], dtype=\"float32\"), ones([3, 2], dtype=\"float32\"))",
     "[[[4.0, 4.0, 4.0], [4.0, 4.0, 4.0]], [[3.0, 3.0], [3.0, 3.0], [3.0, 3.0]]]"},
    {"one_tensor_under_two_names",
     "def @run(%n: int32, %a: Tensor[(2,), float32], %b: Tensor[(2,), float32]) -> Tensor[(2,), float32] {\n"
     "  if (%n == 0) { %a } else { @run(%n - 1, %a + %b, %a) }\n"
     "};\n"
     "{ let %x = ones([2], dtype=\"float32\"); @run(5, %x, %x) }",
     "[13.0, 13.0]"},
    {"weight_with_a_form_that_changes",
     "def @run(%n: int32, %x: Tensor[(64, 64), float32], %w: Tensor[(64, 64), float32], %s: float32) -> "
     "float32 {\n"
     "  if (%n == 0) { %s } else { @run(%n - 1, %x, %w * 0.5, %s + sum(nn.dense(%x, %w))) }\n"
     "}\n"
     "@run(3, ones([64, 64], dtype=\"float32\"), ones([64, 64], dtype=\"float32\"), 0)",
     "458752.0"},
    {"rows_of_a_table_that_were_read",
     "def @run(%n: int32, %w: Tensor[(4, 2), float32], %t: Tensor[(3,), int32]) -> Tensor[(4, 2), float32] "
     "{\n"
     "  if (%n == 0) { %w } else { @run(%n - 1, %w - 0.5 * grad(fn (%v) { sum(take(%v, %t, axis=0)) "
     "})(%w).0, "
     "%t) }\n"
     "}\n"
     "let %w = ones([4, 2], dtype=\"float32\"); (@run(3, %w, [1, 1, 3]), %w)",
     "[[[1.0, 1.0], [-2.0, -2.0], [1.0, 1.0], [-0.5, -0.5]], [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, "
     "1.0]]]"},
    {"failure_of_a_kernel_in_place",
     "def @run(%n: int32, %w: Tensor[(3,), int32], %i: Tensor[(3,), int32]) -> Tensor[(3,), int32] {\n"
     "  if (%n == 0) { %w } else { @run(%n - 1, %w + take([5, 6, 7], %i + (5 - %n), axis=0, mode=\"fast\"), "
     "%i) }\n"
     "}\n"
     "@run(3, [1, 2, 3], [0, 0, 0])",
     ""},
    {"maximum_over_a_falling_extent",
     "def @f(%x: Tensor[(2,), float64]) { sum([i < 2] => max[k < 2 - i] %x[k]) }\n"
     "vjp(@f)([1, 5], 2)",
     "[6.0, [[2.0, 2.0]]]"},
};

class Programs : public testing::TestWithParam<KnownProgram> {};

TEST_P(Programs, GiveWhatIsKnown) {
  const KnownProgram& program = GetParam();
  const std::string interpreted = last_value(program.text, {.interpret = true});
  const std::string expected = program.last.empty() ? interpreted : program.last;
  const auto compare = [&](const std::string& last, std::string_view way) {
    if (expected.starts_with("error"))
      EXPECT_EQ(last.substr(0, expected.size()), expected) << way << ":\n" << last;
    else
      EXPECT_EQ(last, expected) << way << " of\n" << program.text;
  };
  compare(interpreted, "interpreted");
  for (const Way& way : compiled_ways())
    if (!way.on_disk) compare(last_value(program.text, execution_in(way)), way.name);
}

INSTANTIATE_TEST_SUITE_P(Numeric, Programs, testing::ValuesIn(kPrograms),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace quern
