// Models of sequences (sequences.py). Files have no lists, so a row has a record of its own with the layers in a tuple.

#include <fmt/format.h>

#include <cmath>

#include "tests/models/library/rows.h"

namespace quern::library_models {

namespace {

bool has(const std::string& path, const char* part) { return path.find(part) != std::string::npos; }

/// As `random.xavier_uniform`.
double glorot(const std::string&, const Shape& shape) {
  return std::sqrt(2.0 / static_cast<double>(shape[0] + shape[1]));
}

/// Evenly distributed to the inverse of the square root of the units, which have as many rows as gates.
template <int gates>
double by_units(const std::string&, const Shape& shape) {
  return std::sqrt(gates / 3.0 / static_cast<double>(shape[0]));
}

Row recurrent(const std::string& name, const std::string& inner, Deviation deviation) {
  return {name,
          fmt::format(R"(
import "quern:models/{0}.relay" as {0}
type Net {{
  Net(
    first: {0}.Cell[5, 6], rest: ({0}.Cell[6, 6], {0}.Cell[6, 6]), both: {0}.Bidirectional[5, 6],
    upper: {0}.Bidirectional[12, 6]
  )
}}
def @of_squares(%w: {0}.Stacked[5, 6], %xs: Tensor[(7, 2, 5), float32]) {{
  sum(square(@{0}.stacked(%w, %xs, @{0}.zero_states(%w)).0))
}}
def @of_deep(%w: {0}.DeepBidirectional[5, 6], %xs: Tensor[(7, 2, 5), float32]) {{
  sum(square(@{0}.deep_bidirectional(%w, %xs).0))
}}
def @main(%net: Net, %xs: Tensor[(7, 2, 5), float32]) {{
  let %two = {0}.DeepBidirectional(%net.both, Cons(%net.upper, Nil));
  let (%deep, %deep_ends) = @{0}.deep_bidirectional(%two, %xs);
  let (%low, %high) = (@hd(%deep_ends), @nth(%deep_ends, 1));
  let %deep_slopes = grad(@of_deep)(%two, %xs);
  let %deep_slopes = (%deep_slopes.1, %deep_slopes.0.first.backward.weight_hh);
  let %w = {0}.Stacked(%net.first, Cons(%net.rest.0, Cons(%net.rest.1, Nil)));
  let (%ys, %last) = @{0}.stacked(%w, %xs, @{0}.zero_states(%w));
  let (%both, %ends) = @{0}.bidirectional(%net.both, %xs);
  let %s = @{0}.step(%net.first, %xs[0], @{0}.zero_state());
  let %rest = (@hd(%last.rest), @nth(%last.rest, 1));
  let %slopes = grad(@of_squares)(%w, %xs);
  let %slopes = (%slopes.1, (@nth(%slopes.0.rest, 1)).weight_hh);
  {1}
}}
def @begin(%seed: int32) -> ({0}.Stacked[20, 30], {0}.DeepBidirectional[20, 30]) {{
  let (%one, %two) = random.threefry_split(random.threefry_key(%seed));
  (@{0}.init_stacked(%one, 3), @{0}.init_deep_bidirectional(%two, 2))
}}
)",
                      name, inner),
          deviation};
}

Row rnn() {
  return recurrent("rnn",
                   "(%ys, (%last.first, %rest.0, %rest.1), %both, %ends, @rnn.sums(%net.first, %xs[1], %s), "
                   "%slopes, %deep, "
                   "(%low.0, %low.1, %high.0, %high.1), %deep_slopes)",
                   by_units<1>);
}

Row gru() {
  return recurrent("gru", R"(let %gates = @gru.gates(%net.first, %xs[1], %s);
  let %all_ends = (%low.0, %low.1, %high.0, %high.1);
  let %parts = (%gates.reset, %gates.update, %gates.new);
  (%ys, (%last.first, %rest.0, %rest.1), %both, %ends, %parts, %slopes, %deep, %all_ends, %deep_slopes))",
                   by_units<3>);
}

Row lstm() {
  return recurrent("lstm", R"(let %gates = @lstm.gates(%net.first, %xs[1], %s.h);
  let %parts = fn (%s: lstm.State[2, 6]) { (%s.h, %s.c) };
  (
    %ys,
    (%parts(%last.first), %parts(%rest.0), %parts(%rest.1)),
    %both,
    (%parts(%ends.0), %parts(%ends.1)),
    (%gates.input, %gates.forget, %gates.cell, %gates.output),
    %slopes,
    %deep,
    (%parts(%low.0), %parts(%low.1), %parts(%high.0), %parts(%high.1)),
    %deep_slopes
  ))",
                   by_units<4>);
}

/// At so low a temperature the likeliest character is drawn.
Row char_rnn() {
  return {"char_rnn", R"(
import "quern:models/char_rnn.relay" as char_rnn
import "quern:models/layers.relay" as layers
import "quern:models/lstm.relay" as lstm
type Layers { Layers(first: lstm.Cell[5, 6], rest: lstm.Cell[6, 6]) }
type Net { Net(embedding: layers.Embedding[12, 5], lstm: Layers, head: layers.Linear[6, 12]) }
def @main(%net: Net, %text: Tensor[(8, 3), int32]) {
  let %layers = lstm.Stacked(%net.lstm.first, Cons(%net.lstm.rest, Nil));
  let %w = char_rnn.CharRnn(%net.embedding, %layers, %net.head);
  let (%logits, %s) = @char_rnn.logits(%w, %text, @char_rnn.zero_states(%w));
  let %hidden = @char_rnn.hidden(%w, %text, @char_rnn.zero_states(%w)).0;
  let %written = @char_rnn.write(%w, random.threefry_key(1), %text, 6, 0.0001);
  let (%loss, (%slopes, _)) = value_and_grad(@char_rnn.loss)(%w, %text);
  let %slopes = (%slopes.embedding.weight, (@hd(%slopes.lstm.rest)).weight_ih);
  (%logits, %hidden, %s.first.h, (@hd(%s.rest)).c, %loss, %written, %slopes)
}
def @begin(%seed: int32) -> char_rnn.CharRnn[20, 15, 12] { @char_rnn.init_char_rnn(random.threefry_key(%seed), 3) }
)",
          [](const std::string& path, const Shape& shape) {
            return has(path, "embedding") ? 1.0
                   : has(path, "head")    ? glorot(path, shape)
                                          : by_units<4>(path, shape);
          }};
}

Row tree_lstm() {
  return {"tree_lstm", R"(
import "quern:models/tree_lstm.relay" as tree_lstm
type Words = Tensor[(6, 5), float32]
def @tree(%words: Words) -> Tree[Tensor[(5,), float32]] {
  let %leaf = fn (%word: int32) { Rose(%words[%word], Nil) };
  let %below = Rose(%words[2], Cons(%leaf(3), Cons(%leaf(4), Cons(%leaf(5), Nil))));
  Rose(%words[0], Cons(%leaf(1), Cons(%below, Nil)))
}
def @of_squares(%net: tree_lstm.TreeLstm[5, 6], %words: Words) {
  sum(square(@tree_lstm.encode(%net, @tree(%words)).h))
}
def @main(%net: tree_lstm.TreeLstm[5, 6], %words: Words) {
  let %tree = @tree(%words);
  let %root = @tree_lstm.encode(%net, %tree);
  match (@tree_lstm.states(%net, %tree)) {
    Rose(_, %children) => {
      let %one = @tree_lstm.root(@hd(%children));
      let %two = @tree_lstm.root(@nth(%children, 1));
      let %slopes = grad(@of_squares)(%net, %words);
      ((%root.h, %root.c), (%two.h, %two.c), (%one.h, %one.c), (%slopes.1, %slopes.0.forget_hh))
    }
  }
}
def @begin(%seed: int32) -> tree_lstm.TreeLstm[20, 30] { @tree_lstm.init_tree_lstm(random.threefry_key(%seed)) }
)",
          glorot};
}

/// A tiny one is run; that of twelve layers is typed. A truncated normal distribution has 0.8796 times the deviation of the
/// whole one.
Row bert() {
  return {"bert", R"(
import "quern:models/bert.relay" as bert
import "quern:models/layers.relay" as layers
type Layer = bert.Layer[2, 4, 16]
type Net {
  Net(embeddings: bert.Embeddings[10, 9, 8], layers: (Layer, Layer, Layer), pooler: layers.Linear[8, 8])
}
type Ints = Tensor[(2, 6), int32]
def @main(%net: Net, %tokens: Ints, %segments: Ints, %marks: Ints) {
  let (%one, %two, %three) = %net.layers;
  let %w = bert.Bert(%net.embeddings, Cons(%one, Cons(%two, Cons(%three, Nil))), %net.pooler);
  let %mask = [i < 2, j < 6] => if (j == 0) { True } else { %marks[i, j] > 2 };
  let %out = @bert.bert(%w, %tokens, %segments % 2, %mask);
  let %hidden = (@hd(%out.hidden), @nth(%out.hidden, 1), @nth(%out.hidden, 2));
  let %weights = @bert.attention_weights(%one.attention, %hidden.0, %mask);
  let %slopes = grad(fn (%w: bert.Bert[10, 9, 2, 4, 16]) {
    sum(square(@bert.bert(%w, %tokens, %segments % 2, %mask).pooled))
  })(%w).0;
  let %slopes = (%slopes.embeddings.word_embeddings.weight, (@nth(%slopes.layers, 1)).attention.query.weight);
  (%out.pooled, %out.last, %hidden, %weights, %slopes)
}
def @base(%w: bert.Base, %tokens: Tensor[(1, 128), int32]) -> Tensor[(1, 768), float32] {
  @bert.bert(%w, %tokens, zeros((1, 128), dtype="int32"), ones((1, 128), dtype="bool")).pooled
}
def @begin(%seed: int32) -> bert.Bert[40, 30, 2, 8, 32] { @bert.init_bert(random.threefry_key(%seed), 2) }
)",
          [](const std::string&, const Shape&) { return 0.02 * 0.8796; }};
}

/// The logits of the last two tokens also come from the cache of those before them.
const char* const kOfText = R"(
  let %begin = @{0}.empty_cache(%w);
  let (%logits, _) = @{0}.logits(%w, %text, %begin);
  let (_, %cache) = @{0}.logits(%w, %text[:, :3], %begin);
  let (%stepped, _) = @{0}.logits(%w, %text[:, 3:], %cache);
  let (%hidden, %all) = @{0}.hidden(%w, %text, %begin);
)";

Row gpt2() {
  return {"gpt2",
          R"(
import "quern:models/gpt2.relay" as gpt2
import "quern:models/layers.relay" as layers
import "quern:models/attention.relay" as attention
type Layer = gpt2.Layer[2, 4, 16]
type Net {
  Net(
    word_embeddings: layers.Embedding[10, 8], position_embeddings: layers.Embedding[16, 8],
    layers: (Layer, Layer, Layer), norm: layers.Norm[8]
  )
}
def @main(%net: Net, %text: Tensor[(2, 5), int32]) {
  let (%one, %two, %three) = %net.layers;
  let %layers = Cons(%one, Cons(%two, Cons(%three, Nil)));
  let %w = gpt2.Gpt2(%net.word_embeddings, %net.position_embeddings, %layers, %net.norm);)" +
              fmt::format(fmt::runtime(kOfText), "gpt2") + R"(
  let %x = @layers.norm(%one.norm_1, @gpt2.embed(%w, %text, %begin));
  let %query: attention.Heads[2, 5, 2, 4] = @attention.heads(@layers.linear(%one.query_key_value, %x)[..., :8]);
  let %seen = @hd(%all);
  let %weights = @gpt2.attention_weights(%query, %seen.key);
  let %slopes = grad(fn (%w: gpt2.Gpt2[10, 16, 2, 4, 16]) {
    sum(square(@gpt2.logits(%w, %text, @gpt2.empty_cache(%w)).0))
  })(%w).0;
  let %slopes = (%slopes.word_embeddings.weight, (@nth(%slopes.layers, 1)).query_key_value.weight);
  (%logits, %stepped, %hidden, %weights, %seen.value, @gpt2.generate(%w, %text, 9), %slopes)
}
def @begin(%seed: int32) -> gpt2.Gpt2[40, 30, 2, 8, 32] { @gpt2.init_gpt2(random.threefry_key(%seed), 2) }
)",
          [](const std::string& path, const Shape&) {
            return has(path, "projection") || has(path, "down") ? 0.01 : 0.02;
          }};
}

Row llama() {
  return {"llama",
          R"(
import "quern:models/llama.relay" as llama
import "quern:models/layers.relay" as layers
import "quern:models/attention.relay" as attention
type Layer = llama.Layer[10, 2, 3, 2, 16]
type Net {
  Net(
    embedding: layers.Embedding[11, 10], layers: (Layer, Layer, Layer), norm: llama.Norm[10],
    head: llama.Projection[10, 11]
  )
}
def @main(%net: Net, %text: Tensor[(2, 5), int32]) {
  let (%one, %two, %three) = %net.layers;
  let %layers = Cons(%one, Cons(%two, Cons(%three, Nil)));
  let %w = llama.Llama(%net.embedding, %layers, %net.norm, %net.head);)" +
              fmt::format(fmt::runtime(kOfText), "llama") + R"(
  let %x = @llama.norm(%one.attention_norm, @layers.embed(%net.embedding, %text));
  let %query: attention.Heads[2, 5, 6, 4] = @attention.heads(@llama.project(%one.attention.query, %x));
  let %seen = @hd(%all);
  let %weights: Tensor[(2, 2, 3, 5, 5), float32] = @llama.attention_weights(@llama.turned(%query, @llama.angles(0)), %seen.key);
  let %slopes = grad(fn (%w: llama.Llama[11, 10, 2, 3, 2, 16]) {
    sum(square(@llama.logits(%w, %text, @llama.empty_cache(%w)).0))
  })(%w).0;
  let %slopes = (%slopes.embedding.weight, (@nth(%slopes.layers, 1)).attention.key.weight);
  (%logits, %stepped, %hidden, %weights, %seen.key, @llama.generate(%w, %text, 9), %slopes)
}
def @begin(%seed: int32) -> llama.Llama[40, 16, 2, 2, 4, 32] { @llama.init_llama(random.threefry_key(%seed), 2) }
)",
          [](const std::string&, const Shape&) { return 0.02; }};
}

/// A layer of one kind of cell, and what is inside of its last step.
Row cell(const std::string& name, const std::string& inner, Deviation deviation) {
  return {name,
          fmt::format(R"(
import "quern:models/{0}.relay" as model
def @of_squares(%net: model.Cell[5, 6], %xs: Tensor[(7, 2, 5), float32]) {{
  sum(square(@model.layer(%net, %xs, @model.zero_state()).0))
}}
def @main(%net: model.Cell[5, 6], %xs: Tensor[(7, 2, 5), float32]) {{
  let (%ys, %last) = @model.layer(%net, %xs, @model.zero_state());
  let %slopes = grad(@of_squares)(%net, %xs);
  {1}
}}
def @begin(%seed: int32) -> model.Cell[20, 30] {{ @model.init_cell(random.threefry_key(%seed)) }}
)",
                      name, inner),
          deviation};
}

Row mi_lstm() {
  return cell(
      "mi_lstm",
      "(%ys, (%last.h, %last.c), @model.sums(%net, %xs[6], %ys[5]), (%slopes.1, %slopes.0.weight_hh))",
      glorot);
}

Row sub_lstm() {
  return cell("sub_lstm", R"(let %gates = @model.gates(%net, %xs[6], %ys[5]);
  (%ys, (%last.h, %last.c), (%gates.input, %gates.forget, %gates.cell, %gates.output), (%slopes.1, %slopes.0.weight_hh)))",
              glorot);
}

Row lltm() {
  return cell("lltm", R"(let %gates = @model.gates(%net, %xs[6], %ys[5]);
  (%ys, (%last.h, %last.c), (%gates.input, %gates.output, %gates.cell), (%slopes.1, %slopes.0.weights)))",
              by_units<3>);
}

Row scrn() {
  return {"scrn", R"(
import "quern:models/scrn.relay" as scrn
def @main(%net: scrn.Scrn[5, 4, 6, 3], %xs: Tensor[(7, 2, 5), float32]) {
  let (%ys, %last) = @scrn.scrn(%net, %xs, @scrn.zero_state(), 0.95);
  let %slopes = grad(fn (%w: scrn.Scrn[5, 4, 6, 3], %xs: Tensor[(7, 2, 5), float32]) {
    sum(square(@scrn.scrn(%w, %xs, @scrn.zero_state(), 0.95).0))
  })(%net, %xs);
  (%ys, (%last.context, %last.hidden), (%slopes.1, %slopes.0.input_context))
}
def @begin(%seed: int32) -> scrn.Scrn[20, 15, 30, 20] { @scrn.init_scrn(random.threefry_key(%seed)) }
)",
          glorot};
}

}  // namespace

std::vector<Row> sequence_rows() {
  return {rnn(),  gru(),   lstm(),    char_rnn(), tree_lstm(), bert(),
          gpt2(), llama(), mi_lstm(), sub_lstm(), lltm(),      scrn()};
}

}  // namespace quern::library_models
