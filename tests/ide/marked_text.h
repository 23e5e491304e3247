#pragma once
// Texts with a cursor, `$0`, and the session that they are typed in.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "frontend/text/render.h"
#include "session/session.h"

namespace quern::ide {

struct MarkedText {
  std::string text;
  uint32_t offset;
};

inline MarkedText marked(std::string text) {
  const size_t at = text.find("$0");
  EXPECT_NE(at, std::string::npos) << text;
  text.erase(at, 2);
  return {text, static_cast<uint32_t>(at)};
}

/// A session with one module, whose texts are without mistakes.
struct Typed {
  Session session;
  ModuleId module = session.make_module();

  explicit Typed(const std::string& text, const std::string& folder = "") {
    const SourceId source = session.add_source(module, "typed.relay", text, folder);
    const auto found = session.check(source);
    EXPECT_TRUE(found.empty()) << render_all(found, false, 3);
  }
};

/// What rows of tables are typed after, where they do not say it.
constexpr const char* kTyped = R"(
import "net.relay" as net
/// A layer.
/// With two lines.
def @layer[n, i, o](%data: Tensor[(n, i), float32], %kernel: Tensor[(o, i), float32]) -> Tensor[(n, o), float32] {
  nn.dense(%data, %kernel)
}
def @double(%value) { %value + %value }
def @loss(%w: Tensor[(3,), float32]) -> float32 { sum(%w * %w) }
type Net { Net(conv1: Tensor[(4, 3), float32], fc: Pair) }
type Pair { Pair(weight: Tensor[(2, 4), float32], bias: float32) }
type Shade { Light, Dark(int32) }
/// Scales it.
op scaled(%input: Tensor[s, t], factor: float = 2.0, mode: string = "up", exact: bool = False) -> Tensor[s, t]
    where contains(["up", "down", "even"], mode) : "an unknown mode" {
  [..i] => %input[..i] * factor
}
static @half(n) { n / 2 }
let %x = ones((8, 784));
let %image: Tensor[(1, 3, 32, 32), float32] = zeros(shape=(1, 3, 32, 32));
let %count = 3;
let %flags = [True, False];
let %net = Net(zeros((4, 3)), Pair(zeros((2, 4)), 1f));
let %pair = (1, [2.0, 3.0]);
let %twice = fn (%y: float32) -> float32 { %y * 2f };
)";

}  // namespace quern::ide
