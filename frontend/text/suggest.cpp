#include "frontend/text/suggest.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "ir/type/dtype.h"

namespace quern {

namespace {

// A module stands behind those inside of it.
constexpr std::array<std::string_view, 24> kModules{"torch.nn.functional.",
                                                    "torch.nn.init.",
                                                    "torch.nn.",
                                                    "torch.fft.",
                                                    "torch.signal.windows.",
                                                    "torch.",
                                                    "np.random.",
                                                    "np.fft.",
                                                    "np.",
                                                    "numpy.random.",
                                                    "numpy.fft.",
                                                    "numpy.",
                                                    "jnp.",
                                                    "jax.numpy.",
                                                    "jax.nn.",
                                                    "jax.random.",
                                                    "F.",
                                                    "tf.random.",
                                                    "tf.signal.",
                                                    "scipy.fft.",
                                                    "scipy.signal.",
                                                    "tf.",
                                                    "relay.",
                                                    "tvm.relay."};

// Sorted by name. The operator may not exist (yet): callers suggest only what their scope has. Names without
// a meaning or a remark are known in the field, but no operator computes them.
constexpr ForeignName kForeign[] = {
    {"AvgPool1d", "nn.avg_pool1d", "`nn.avg_pool1d(%x, pool_size=[2], strides=[2])`"},
    {"BCELoss", "loss.bce", "`loss.bce(%p, %y)`"},
    {"BCEWithLogitsLoss", "loss.bce_with_logits", "`loss.bce_with_logits(%x, %y)`"},
    {"CTCLoss", "", ""},
    {"CrossEntropyLoss", "loss.cross_entropy", "`loss.cross_entropy(%x, %labels)`, from logits"},
    {"ELU", "nn.elu", "`nn.elu(%x)`"},
    {"GELU", "nn.gelu", "`nn.gelu(%x)`"},
    {"GroupNorm", "nn.group_norm", "`nn.group_norm(%x, %gamma, %beta, num_groups=4)`"},
    {"Hardsigmoid", "nn.hardsigmoid", "`nn.hardsigmoid(%x)`"},
    {"Hardswish", "nn.hardswish", "`nn.hardswish(%x)`"},
    {"HuberLoss", "loss.huber", "`loss.huber(%x, %y)`"},
    {"KLDivLoss", "loss.kl_div", "`loss.kl_div(%x, %y)`"},
    {"L1Loss", "loss.l1", "`loss.l1(%x, %y)`"},
    {"MSELoss", "loss.mse", "`loss.mse(%x, %y)`"},
    {"MaxPool1d", "nn.max_pool1d", "`nn.max_pool1d(%x, pool_size=[2], strides=[2])`"},
    {"Mish", "nn.mish", "`nn.mish(%x)`"},
    {"NLLLoss", "nn.nll_loss", "`nn.nll_loss(%x, %labels, %weights)`"},
    {"PRNGKey", "random.threefry_key", ""},
    {"RMSNorm", "nn.rms_norm", "`nn.rms_norm(%x, %gamma)`"},
    {"SELU", "nn.selu", "`nn.selu(%x)`"},
    {"SiLU", "nn.silu", "`nn.silu(%x)`"},
    {"SmoothL1Loss", "loss.smooth_l1", "`loss.smooth_l1(%x, %y)`"},
    {"Softplus", "nn.softplus", "`nn.softplus(%x)`"},
    {"Softsign", "nn.softsign", "`nn.softsign(%x)`"},
    {"absolute", "abs", ""},
    {"addmm", "matmul", "`matmul(%x, %y) + %b`"},
    {"amax", "max", ""},
    {"amin", "min", ""},
    {"arange", "", "an index expression: `[i < n] => cast<float32>(i)`"},
    {"arccos", "acos", ""},
    {"arccosh", "acosh", ""},
    {"arcsin", "asin", ""},
    {"arcsinh", "asinh", ""},
    {"arctan", "atan", ""},
    {"arctan2", "atan2", ""},
    {"arctanh", "atanh", ""},
    {"array", "", "a tensor literal: `[1, 2, 3]`"},
    {"astype", "cast", "`cast(%x, dtype=\"float32\")`"},
    {"average", "mean", ""},
    {"avg_pool2d_backward", "nn.avg_pool2d_grad", ""},
    {"batch_to_space", "nn.batch_to_space_nd", ""},
    {"binary_cross_entropy", "loss.bce", ""},
    {"binary_cross_entropy_with_logits", "loss.bce_with_logits", ""},
    {"bitwise_left_shift", "left_shift", ""},
    {"bitwise_right_shift", "right_shift", ""},
    {"blackman", "signal.blackman_window", "`signal.blackman_window(16, periodic=False)`"},
    {"bmm", "matmul", ""},
    {"broadcast_add", "add", "`%x + %y` broadcasts"},
    {"cat", "concatenate", "`concatenate((%x, %y), axis=0)`"},
    {"categorical_crossentropy", "nn.cross_entropy", ""},
    {"choice", "random.multinomial", "`random.multinomial(random.threefry_key(7), %weights, 10).1`"},
    {"clamp", "clip", "`clip(%x, a_min=0.0, a_max=1.0)`"},
    {"clip_by_value", "clip", "`clip(%x, a_min=0.0, a_max=1.0)`"},
    {"concat", "concatenate", "`concatenate((%x, %y), axis=0)`"},
    {"cond", "", "`if (%c) { %x } else { %y }`"},
    {"conv2d", "nn.conv2d", ""},
    {"conv2d_weight", "nn.conv2d_backward_weight", ""},
    {"correlation", "nn.correlation", ""},
    {"count_nonzero", "sum", "`sum(cast(%x != 0, dtype=\"int32\"))`"},
    {"cross_entropy", "loss.cross_entropy", "`loss.cross_entropy(%x, %labels)`, from logits"},
    {"ctc_loss", "", ""},
    {"deform_conv2d", "nn.deformable_conv2d", ""},
    {"deformable_conv2d", "nn.deformable_conv2d", ""},
    {"dense", "nn.dense", ""},
    {"dequantize", "qnn.dequantize", "`qnn.dequantize(%q, 0.1, 0)`"},
    {"dequantize_linear", "qnn.dequantize", "`qnn.dequantize(%q, 0.1, 0)`"},
    {"diag_embed", "diag", ""},
    {"diagonal", "diag", "`diag(%x)`"},
    {"div", "divide", "`%x / %y`"},
    {"dot", "matmul", ""},
    {"dynamic_quantize_linear", "qnn.dynamic_quantize", ""},
    {"eig", "", ""},
    {"elu", "nn.elu", ""},
    {"embedding", "take", "`take(%weight, %indices, axis=0)`"},
    {"empty", "zeros", ""},
    {"eq", "equal", "`%x == %y`"},
    {"erfc", "erf", "`1 - erf(%x)`"},
    {"exp2", "power", "`power(2.0, %x)`"},
    {"fake_quantize_per_tensor_affine", "qnn.simulated_quantize", ""},
    {"fft", "fft.dft", "`fft.dft(%x, axis=0)`, of (real, imaginary) pairs along the last axis"},
    {"flatten", "nn.batch_flatten", ""},
    {"fliplr", "flip", "`flip(%x, axis=[1])`"},
    {"flipud", "flip", "`flip(%x, axis=[0])`"},
    {"fmod", "mod", "`%x % %y`"},
    {"fori_loop", "", "`scan_over` over the rows of `arange`, or a function that calls itself"},
    {"gammaln", "lgamma", ""},
    {"gather", "take", ""},
    {"ge", "greater_equal", "`%x >= %y`"},
    {"gelu", "nn.gelu", ""},
    {"glorot_normal", "random.xavier_normal", "`random.xavier_normal(random.threefry_key(7), (2, 3)).1`"},
    {"glorot_uniform", "random.xavier_uniform", "`random.xavier_uniform(random.threefry_key(7), (2, 3)).1`"},
    {"gt", "greater", "`%x > %y`"},
    {"hamming", "signal.hamming_window", "`signal.hamming_window(16, periodic=False)`"},
    {"hann", "signal.hann_window", "`signal.hann_window(16, periodic=False)`"},
    {"hanning", "signal.hann_window", "`signal.hann_window(16, periodic=False)`"},
    {"hard_sigmoid", "nn.hardsigmoid", ""},
    {"hard_swish", "nn.hardswish", ""},
    {"hardshrink", "nn.shrink", ""},
    {"hardsigmoid", "nn.hardsigmoid", ""},
    {"hardswish", "nn.hardswish", ""},
    {"hardtanh", "clip", "`clip(%x, a_min=-1.0, a_max=1.0)`"},
    {"hist", "", "`:hist %x` draws at the prompt"},
    {"histc", "histogram", ""},
    {"hstack", "concatenate", "`concatenate((%x, %y), axis=1)`"},
    {"huber_loss", "loss.huber", ""},
    {"identity", "eye", "`eye(3)`"},
    {"ifft", "fft.dft", "`fft.dft(%x, axis=0, inverse=True)`"},
    {"imshow", "", "`:image %x` draws at the prompt"},
    {"index_select", "take", "`take(%x, %indices, axis=0)`"},
    {"integers", "random.randint", "`random.randint(random.threefry_key(7), 0, 10, (2, 3)).1`"},
    {"interpolate", "image.resize2d", ""},
    {"inv", "linalg.inverse", ""},
    {"invert", "bitwise_not", ""},
    {"jit", "", "functions are compiled when they are called"},
    {"kaiming_normal", "random.he_normal", "`random.he_normal(random.threefry_key(7), (2, 3)).1`"},
    {"kaiming_uniform", "random.he_uniform", "`random.he_uniform(random.threefry_key(7), (2, 3)).1`"},
    {"kl_div", "loss.kl_div", ""},
    {"l1_loss", "loss.l1", ""},
    {"le", "less_equal", "`%x <= %y`"},
    {"linalg.inv", "linalg.inverse", ""},
    {"linalg.norm", "norm", ""},
    {"linalg.solve_triangular", "linalg.triangular_solve", ""},
    {"linear", "nn.dense", "`nn.dense(%x, %w)`, with the weight as (outputs, inputs)"},
    {"log_softmax", "nn.log_softmax", ""},
    {"lt", "less", "`%x < %y`"},
    {"manual_seed", "random.threefry_key", "`random.threefry_key(7)` is a key, to draw numbers with"},
    {"masked_fill", "where", "`where(%mask, %value, %x)`"},
    {"max_pool1d_with_indices", "nn.max_pool_indices", ""},
    {"max_pool2d", "nn.max_pool2d", ""},
    {"max_pool2d_backward", "nn.max_pool2d_grad", ""},
    {"max_pool2d_with_indices", "nn.max_pool_indices", ""},
    {"max_pool3d_with_indices", "nn.max_pool_indices", ""},
    {"mean_squared_error", "loss.mse", ""},
    {"mish", "nn.mish", ""},
    {"mm", "matmul", ""},
    {"mse_loss", "loss.mse", ""},
    {"mul", "multiply", "`%x * %y`"},
    {"ndim", "", "a rank is a part of the type: `Tensor[(n, m), float32]` has two dims"},
    {"ne", "not_equal", "`%x != %y`"},
    {"neg", "negative", "`-%x`"},
    {"nll_loss", "nn.nll_loss", "`nn.nll_loss(%x, %labels, %weights)`"},
    {"nms", "vision.all_class_non_max_suppression", ""},
    {"packbits", "nn.bitpack", "`nn.bitpack(%x, pack_axis=0, bit_axis=1, pack_type=\"uint8\")[:, 0]`"},
    {"percentile", "quantile", "`quantile(%x, 0.5)`, of 0 to 1"},
    {"permute", "transpose", "`transpose(%x, axes=[0, 2, 1])`"},
    {"pinv", "", ""},
    {"plot", "", "`:plot %x` draws at the prompt"},
    {"pow", "power", "`power(%x, %y)`"},
    {"qr", "", ""},
    {"quantize", "qnn.quantize", "`qnn.quantize(%x, 0.1, 0)`"},
    {"quantize_linear", "qnn.quantize", "`qnn.quantize(%x, 0.1, 0, rounding=\"TOEVEN\")`"},
    {"quantize_per_channel", "qnn.quantize", "`qnn.quantize(%x, %scales, %zero_points, axis=0)`"},
    {"quantize_per_tensor", "qnn.quantize", "`qnn.quantize(%x, 0.1, 0, rounding=\"TOEVEN\")`"},
    {"rand", "random.uniform", "`random.uniform(random.threefry_key(7), 0.0, 1.0, (2, 3)).1`"},
    {"randint", "random.randint", "`random.randint(random.threefry_key(7), 0, 10, (2, 3)).1`"},
    {"randn", "random.normal", "`random.normal(random.threefry_key(7), 0.0, 1.0, (2, 3)).1`"},
    {"randperm", "random.permutation", "`random.permutation(random.threefry_key(7), 10).1`"},
    {"ravel", "reshape", "`reshape(%x, newshape=[-1])`"},
    {"relu", "nn.relu", ""},
    {"relu6", "clip", "`clip(%x, a_min=0.0, a_max=6.0)`"},
    {"remainder", "floor_mod", ""},
    {"reorg", "vision.yolo_reorg", "`vision.yolo_reorg(%x, stride=2)`"},
    {"requantize", "qnn.requantize", ""},
    {"rint", "round", "`round(%x)`, which takes halves away from zero"},
    {"roi_pool", "vision.roi_pool", "`vision.roi_pool(%x, %rois, pooled_size=[7, 7], spatial_scale=1.0)`"},
    {"scan", "", "`scan_over(fn (%sum, %x) { (%sum + %x, %x) }, 0.0, %xs)`"},
    {"seed", "random.threefry_key", "`random.threefry_key(7)` is a key, to draw numbers with"},
    {"selu", "nn.selu", ""},
    {"shape", "",
     "dims have names in types, and in `def @f[n, m](%x: Tensor[(n, m), float32])` `n` is a number"},
    {"shuffle", "random.permutation",
     "`take(%x, random.permutation(random.threefry_key(7), 10).1, axis=0)` for 10 rows"},
    {"sigmoid_cross_entropy_with_logits", "loss.bce_with_logits", ""},
    {"silu", "nn.silu", ""},
    {"size", "",
     "dims have names in types, and in `def @f[n, m](%x: Tensor[(n, m), float32])` `n * m` is a number"},
    {"smooth_l1_loss", "loss.smooth_l1", ""},
    {"softmax", "nn.softmax", ""},
    {"softplus", "nn.softplus", ""},
    {"softshrink", "nn.shrink", "`nn.shrink(%x, lambd=0.5, bias=0.5)`"},
    {"softsign", "nn.softsign", ""},
    {"solve_triangular", "linalg.triangular_solve", ""},
    {"space_to_batch", "nn.space_to_batch_nd", ""},
    {"sparse_categorical_crossentropy", "loss.cross_entropy",
     "`loss.cross_entropy(%x, %labels)`, from logits"},
    {"sparse_dense", "nn.sparse_dense", ""},
    {"standard_normal", "random.normal", "`random.normal(random.threefry_key(7), 0.0, 1.0, (2, 3)).1`"},
    {"sub", "subtract", "`%x - %y`"},
    {"summary", "", "`:summary @f` shows it at the prompt"},
    {"svd", "", ""},
    {"swapaxes", "transpose", "`transpose(%x, axes=[1, 0])`"},
    {"swish", "nn.silu", ""},
    {"tensor", "", "a tensor literal: `[1, 2, 3]`"},
    {"tensordot", "einsum", "`einsum`, by an equation"},
    {"thresholded_relu", "nn.threshold", ""},
    {"to_dense", "sparse_to_dense", ""},
    {"tri", "tril", "`tril(ones((3, 3)))`"},
    {"true_divide", "divide", "`%x / %y`"},
    {"trunc_normal", "random.truncated_normal",
     "`random.truncated_normal(random.threefry_key(7), 0.0, 1.0, (2, 3)).1`"},
    {"unfold", "sliding_window", "`sliding_window(%x, axis=0, window_shape=[3], strides=[1])`"},
    {"unsqueeze", "expand_dims", "`expand_dims(%x, axis=0)`"},
    {"vector_norm", "norm", ""},
    {"view", "reshape", "`reshape(%x, newshape=[2, -1])`"},
    {"vstack", "concatenate", "`concatenate((%x, %y), axis=0)`"},
    {"while_loop", "", "a function that calls itself in its last step"},
};

struct Alias {
  std::string_view there, here;
};
constexpr Alias kTypes[] = {
    {"double", "float64"}, {"half", "float16"}, {"integer", "int32"},  {"long", "int64"},
    {"short", "int16"},    {"char", "int8"},    {"byte", "uint8"},     {"boolean", "bool"},
    {"Bool", "bool"},      {"f16", "float16"},  {"f32", "float32"},    {"f64", "float64"},
    {"fp16", "float16"},   {"fp32", "float32"}, {"fp64", "float64"},   {"bf16", "bfloat16"},
    {"i8", "int8"},        {"i16", "int16"},    {"i32", "int32"},      {"i64", "int64"},
    {"u8", "uint8"},       {"u16", "uint16"},   {"u32", "uint32"},     {"u64", "uint64"},
    {"Float", "float32"},  {"Int", "int32"},    {"Double", "float64"}, {"usize", "int64"},
};
constexpr Alias kAttributes[] = {
    {"dim", "axis"},           {"dims", "axis"},          {"axes", "axis"},      {"keepdim", "keepdims"},
    {"keep_dims", "keepdims"}, {"kernel", "kernel_size"}, {"stride", "strides"}, {"pad", "padding"},
    {"pads", "padding"},       {"dilations", "dilation"}, {"group", "groups"},   {"min", "a_min"},
    {"max", "a_max"},          {"type", "dtype"},         {"size", "shape"},     {"shape", "newshape"},
};

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Twice the optimal string alignment distance, so that a mere change of case costs half an edit.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = 2 * i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = 2 * j;
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t change = a[i - 1] == b[j - 1] ? 0 : lower(a[i - 1]) == lower(b[j - 1]) ? 1 : 2;
      d[i][j] = std::min({d[i - 1][j] + 2, d[i][j - 1] + 2, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 2);
    }
  return d[a.size()][b.size()];
}

bool same_but_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::optional<std::string> did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr size_t kLongest = 64;
  if (name.empty() || name.size() > kLongest) return std::nullopt;
  // For a name of one or two letters any edit makes another name, so only case may be a slip.
  size_t allowed = name.size() < 3 ? 0 : 2 * std::max<size_t>(1, name.size() / 3);
  std::optional<std::string> best;
  size_t best_distance = allowed + 1;
  for (const std::string& candidate : candidates) {
    if (candidate == name || candidate.size() > kLongest) continue;
    bool without_prefix = candidate.size() > name.size() && candidate.ends_with(name) &&
                          candidate[candidate.size() - name.size() - 1] == '.';
    size_t difference =
        candidate.size() > name.size() ? candidate.size() - name.size() : name.size() - candidate.size();
    if (!without_prefix && 2 * difference > allowed) continue;
    size_t found = without_prefix || same_but_case(name, candidate) ? 0 : distance(name, candidate);
    if (found >= best_distance) continue;
    best = candidate;
    best_distance = found;
  }
  return best;
}

Suggestion suggest(const std::optional<std::string>& meant, const Place& place) {
  if (!meant) return {};
  return {"; did you mean `" + *meant + "`?", {{"write `" + *meant + "`", {{place, *meant}}}}};
}

std::string_view foreign_type(std::string_view name) {
  for (const Alias& a : kTypes)
    if (a.there == name) return a.here;
  return "";
}
std::optional<std::string> dtype_meant_by(std::string_view name) {
  if (std::string_view here = foreign_type(without_foreign_module(name)); !here.empty())
    return std::string(here);
  if (has_foreign_module(name)) name = without_foreign_module(name);
  std::vector<std::string> names = dtype_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return std::string(name);
  return did_you_mean(name, names);
}
std::string_view foreign_attribute(std::string_view name) {
  for (const Alias& a : kAttributes)
    if (a.there == name) return a.here;
  return "";
}

bool has_foreign_module(std::string_view name) {
  return std::any_of(kModules.begin(), kModules.end(),
                     [&](std::string_view m) { return name.size() > m.size() && name.starts_with(m); });
}

std::string_view without_foreign_module(std::string_view name) {
  for (std::string_view module : kModules)
    if (name.size() > module.size() && name.starts_with(module)) return name.substr(module.size());
  return name;
}

const ForeignName* find_foreign_name(std::string_view name) {
  name = without_foreign_module(name);
  if (name.starts_with("nn.")) name.remove_prefix(3);
  if (name.ends_with('_')) name.remove_suffix(1);  // PyTorch's functions that change their operand
  for (const ForeignName& f : kForeign)
    if (f.name == name) return &f;
  return nullptr;
}

}  // namespace quern
