// Pictures in pixels: what is sent to terminals, decoded again, and when it is sent.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/static/metadata.h"
#include "repl/editor/graphics.h"
#include "repl/picture/picture.h"
#include "repl/pixels/base64.h"
#include "repl/pixels/kitty.h"
#include "repl/pixels/palette.h"
#include "repl/pixels/sixel.h"
#include "tests/repl/editor/screen_session.h"

namespace quern::picture {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr uint32_t kUnset = 0xff000000;

/// The pixels that a sixel picture sets, as a terminal reads it.
class SixelReader {
 public:
  Raster read(std::string_view text) {
    const size_t begin = text.find('q'), end = text.find("\x1b\\");
    EXPECT_TRUE(text.starts_with("\x1bP") && begin != std::string_view::npos &&
                end != std::string_view::npos);
    rest_ = text.substr(begin + 1, end - begin - 1);
    while (!rest_.empty()) take();
    return std::move(raster_);
  }

 private:
  char next() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  int number() {
    int value = 0;
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9')
      value = value * 10 + (next() - '0');
    return value;
  }
  std::vector<int> numbers() {
    std::vector<int> all{number()};
    while (!rest_.empty() && rest_.front() == ';') {
      next();
      all.push_back(number());
    }
    return all;
  }
  void take() {
    const char c = next();
    if (c == '"') {
      const std::vector<int> attributes = numbers();
      raster_ = {attributes[2], attributes[3]};
      raster_.pixels.assign(static_cast<size_t>(raster_.width) * static_cast<size_t>(raster_.height), kUnset);
    } else if (c == '#') {
      const std::vector<int> colour = numbers();
      colour_ = colour[0];
      if (colour.size() == 1) return;
      EXPECT_EQ(colour[1], 2);
      for (size_t i = 2; i < 5; ++i)
        colours_[colour_] = colours_[colour_] << 8 | static_cast<uint32_t>((colour[i] * 255 + 50) / 100);
    } else if (c == '$') {
      x_ = 0;
    } else if (c == '-') {
      x_ = 0;
      y_ += 6;
    } else if (c == '!') {
      const int count = number();
      draw(next(), count);
    } else {
      draw(c, 1);
    }
  }
  void draw(char c, int count) {
    ASSERT_TRUE(c >= '?' && c <= '~') << c;
    for (; count > 0; --count, ++x_)
      for (int i = 0; i < 6; ++i)
        if ((c - '?') >> i & 1) set(x_, y_ + i);
  }
  void set(int x, int y) {
    ASSERT_TRUE(x < raster_.width && y < raster_.height) << x << ", " << y;
    uint32_t& pixel =
        raster_.pixels[static_cast<size_t>(y) * static_cast<size_t>(raster_.width) + static_cast<size_t>(x)];
    EXPECT_EQ(pixel, kUnset) << "set twice";
    pixel = colours_.at(colour_);
  }

  std::string_view rest_;
  Raster raster_;
  std::map<int, uint32_t> colours_;
  int colour_ = 0, x_ = 0, y_ = 0;
};

/// The PNG of kitty's sequences, of which each is looked at.
std::string png_of(std::string_view sequences) {
  std::string text;
  bool is_first = true, is_open = true;
  while (!sequences.empty()) {
    EXPECT_TRUE(is_open);
    EXPECT_TRUE(sequences.starts_with("\x1b_G"));
    const size_t semicolon = sequences.find(';'), end = sequences.find("\x1b\\");
    const std::string_view keys = sequences.substr(3, semicolon - 3);
    const std::string_view payload = sequences.substr(semicolon + 1, end - semicolon - 1);
    EXPECT_EQ(keys.starts_with("a=T,f=100,q=2,"), is_first) << keys;
    is_first = false;
    is_open = keys.ends_with("m=1");
    EXPECT_TRUE(is_open ? payload.size() == 4096 : payload.size() <= 4096 && !payload.empty());
    text += payload;
    sequences.remove_prefix(end + 2);
  }
  EXPECT_FALSE(is_open) << "the last chunk says that it is the last";
  return decode_base64(text).value_or("no base64");
}

int distance(uint32_t a, uint32_t b) {
  int most = 0;
  for (int shift = 0; shift < 24; shift += 8)
    most =
        std::max(most, std::abs(static_cast<int>(a >> shift & 0xff) - static_cast<int>(b >> shift & 0xff)));
  return most;
}

TEST(Base64, IsThatOfTheStandard) {
  const std::array<std::pair<std::string_view, std::string_view>, 7> table{{{"", ""},
                                                                            {"f", "Zg=="},
                                                                            {"fo", "Zm8="},
                                                                            {"foo", "Zm9v"},
                                                                            {"foob", "Zm9vYg=="},
                                                                            {"fooba", "Zm9vYmE="},
                                                                            {"foobar", "Zm9vYmFy"}}};
  for (const auto& [bytes, text] : table) EXPECT_EQ(to_base64(bytes), text);
  EXPECT_EQ(to_base64("\xff\xfe\xfd"), "//79");
}

TEST(Kitty, SendsAPngInChunks) {
  for (const size_t size : {1U, 3071U, 3072U, 3073U, 10'000U}) {
    std::string png;
    for (size_t i = 0; i < size; ++i) png += static_cast<char>(i * i % 251);
    EXPECT_EQ(png_of(to_kitty(png)), png) << size;
  }
}

TEST(Sixel, OfFewColoursIsThePicture) {
  // Wider and higher than bands, with runs, gaps and a last band that is not whole. Percent are exact of these.
  constexpr std::array<uint32_t, 4> kColours{0x000000, 0xffffff, 0xff3300, 0x0066cc};
  Raster raster{17, 15};
  for (int y = 0; y < raster.height; ++y)
    for (int x = 0; x < raster.width; ++x)
      raster.pixels.push_back(kColours[static_cast<size_t>(x < 9 ? 0 : (x * y) % 4)]);
  const std::string text = to_sixel(raster);
  EXPECT_THAT(text, HasSubstr("!9")) << "runs are numbers";
  const Raster read = SixelReader().read(text);
  EXPECT_EQ(read.width, raster.width);
  EXPECT_EQ(read.height, raster.height);
  EXPECT_EQ(read.pixels, raster.pixels);
}

TEST(Sixel, OfManyColoursIsNearThePicture) {
  Raster raster{64, 64};
  for (uint32_t y = 0; y < 64; ++y)
    for (uint32_t x = 0; x < 64; ++x) raster.pixels.push_back(x * 4 << 16 | y * 4 << 8 | (x + y) * 2);
  const Raster read = SixelReader().read(to_sixel(raster));
  ASSERT_EQ(read.pixels.size(), raster.pixels.size());
  for (size_t i = 0; i < raster.pixels.size(); ++i)
    EXPECT_LE(distance(read.pixels[i], raster.pixels[i]), 24) << i;
}

TEST(PaletteOf, HasTheColoursThatThereAreOrTheirMeans) {
  const Raster two{3, 1, {0x102030, 0xff000000 | 0x405060, 0x102030}};
  const Palette all = palette_of(two);
  ASSERT_EQ(all.colours.size(), 2U);
  EXPECT_EQ(all.colours[all.of_pixels[0]], 0x102030U);
  EXPECT_EQ(all.colours[all.of_pixels[1]], 0x405060U);
  EXPECT_EQ(all.of_pixels[0], all.of_pixels[2]);
  EXPECT_EQ(palette_of(two, 1).colours, (std::vector<uint32_t>{0x203040}));
  EXPECT_TRUE(palette_of({}).colours.empty());
  // Blacks and whites do not meet, whatever there is between them.
  const Raster greys{4, 1, {0x000000, 0x020202, 0xfdfdfd, 0xffffff}};
  EXPECT_EQ(palette_of(greys, 2).colours, (std::vector<uint32_t>{0x010101, 0xfefefe}));
}

TEST(PictureRaster, IsWithinItsRoom) {
  const auto image = [](int64_t width, int64_t height) {
    return Image{.width = width,
                 .height = height,
                 .numbers = std::vector<float>(static_cast<size_t>(width * height), 0.5F)};
  };
  const auto size_of = [](const Picture& picture, const Room& room) {
    const auto raster = to_raster(picture, room);
    return raster ? std::pair(raster->width, raster->height) : std::pair(0, 0);
  };
  EXPECT_EQ(size_of(image(8, 8), {}), std::pair(320, 320));
  EXPECT_EQ(size_of(image(8, 4), {.width = 100, .height = 100}), std::pair(96, 48));
  EXPECT_EQ(size_of(image(400, 300), {}), std::pair(400, 300));
  EXPECT_EQ(size_of(image(1280, 10), {}), std::pair(640, 5));
  EXPECT_EQ(size_of(image(5000, 1), {}), std::pair(640, 1));
  const Plot plot = *plot_of({{{0, 1}, {0, 1}}});
  EXPECT_EQ(size_of(plot, {.scale = 1}), std::pair(640, 400));
  EXPECT_EQ(size_of(plot, {.width = 1000, .height = 200, .scale = 2}), std::pair(320, 200));
  // On the terminal's own paper.
  EXPECT_EQ(to_raster(plot, {})->pixels.front() & 0xffffff, kPaper.on_light);
  EXPECT_EQ(to_raster(plot, {.paper = Paper::Dark})->pixels.front() & 0xffffff, kPaper.on_dark);
}

// --- what a terminal answers

TEST(GraphicsAnswer, IsToldFromWhatIsTyped) {
  const auto answer = editor::graphics_answer("1 +\x1b_Gi=31;OK\x1b\\ 2\x1b[6;18;9t\x1b[?62;4;22c\r");
  EXPECT_TRUE(answer.graphics.has_kitty && answer.graphics.has_sixel && answer.is_whole);
  EXPECT_EQ(answer.graphics.cell_height, 18);
  EXPECT_EQ(answer.graphics.cell_width, 9);
  EXPECT_EQ(answer.rest, "1 + 2\r");
}

TEST(GraphicsAnswer, MaySayThatThereIsNothing) {
  const auto answer = editor::graphics_answer("\x1b_Gi=31;ENOTSUPPORTED\x1b\\\x1b[?1;2c");
  EXPECT_TRUE(answer.is_whole);
  EXPECT_FALSE(answer.graphics.has_kitty || answer.graphics.has_sixel);
  // The level of a VT420 is no attribute.
  EXPECT_FALSE(editor::graphics_answer("\x1b[?4c").graphics.has_sixel);
}

TEST(GraphicsAnswer, HasTheColourBehindCharacters) {
  const auto is_dark = [](const std::string& text) {
    const auto answer = editor::graphics_answer(text);
    EXPECT_EQ(answer.rest, "") << text;
    return answer.graphics.is_dark;
  };
  EXPECT_TRUE(is_dark("\x1b]11;rgb:1c1c/1f1f/2626\x1b\\"));
  EXPECT_TRUE(is_dark("\x1b]11;rgb:00/00/ff\a"));
  EXPECT_FALSE(is_dark("\x1b]11;rgb:ffff/ffff/dddd\x1b\\"));
  EXPECT_FALSE(is_dark("\x1b]11;rgb:0/f/0\a"));
  EXPECT_FALSE(is_dark("\x1b]11;what\a"));
  EXPECT_FALSE(is_dark("\x1b]11;rgb:\a")) << "nothing says so";
}

TEST(GraphicsAnswer, LeavesKeysAlone) {
  for (const std::string text :
       {"\x1b[A", "\x1b[1;5C", "\x1b", "\x1b_", "\x1b_Gi=31;O", "\x1b[?62;", "\x1b[3~", "[?1;4c"}) {
    const auto answer = editor::graphics_answer(text);
    EXPECT_EQ(answer.rest, text);
    EXPECT_FALSE(answer.is_whole);
  }
}

TEST(GraphicsQuestion, IsNotForTerminalsThatShowIt) {
  EXPECT_TRUE(editor::may_be_asked("xterm-256color"));
  EXPECT_TRUE(editor::may_be_asked("tmux-256color"));
  for (const char* name : {"", "dumb", "linux", "linux-16color", "vt220"})
    EXPECT_FALSE(editor::may_be_asked(name)) << name;
}

// --- at the prompt

class PixelsAtThePrompt : public testing::Test {
 protected:
  static constexpr std::string_view kSixel = "\x1bP0;1;0q", kKitty = "\x1b_Ga=T";
  static constexpr std::string_view kAttributes = "\x1b[c";

  void SetUp() override { ASSERT_TRUE(session_.wait_for_prompt()); }
  bool shows_image() {
    const size_t before = session_.received().size();
    session_.type(":image [[0.0, 1.0]]\r");
    return session_.wait_until([&](const std::string& shown) {
      return session_.received().find("white 1", before) != std::string::npos && shown.ends_with("\n>>>");
    });
  }
  bool has_received(std::string_view text) const {
    return session_.received().find(text) != std::string::npos;
  }
  /// From where a sequence begins to the line's end.
  std::string sent(std::string_view begin) const {
    const size_t at = session_.received().find(begin);
    return session_.received().substr(at, session_.received().find('\r', at) - at);
  }

  editor::ScreenSession session_{"/tmp", "off", 60, 24};
};

TEST_F(PixelsAtThePrompt, AreSixelsWhereTheTerminalHasThem) {
  session_.answer(std::string(kAttributes), "\x1b[6;20;10t\x1b[?62;4;22c");
  ASSERT_TRUE(shows_image());
  ASSERT_TRUE(has_received(kSixel));
  const Raster raster = SixelReader().read(sent(kSixel));
  EXPECT_EQ(raster.width, 320);
  EXPECT_EQ(raster.height, 160);
  EXPECT_EQ(raster.pixels.front(), 0x000000U);
  EXPECT_EQ(raster.pixels.back(), 0xffffffU);
  EXPECT_THAT(session_.screen().text(), Not(HasSubstr("▀")));
  // It is asked once.
  const size_t asked = session_.received().find(kAttributes);
  ASSERT_TRUE(shows_image());
  EXPECT_EQ(session_.received().find(kAttributes, asked + 1), std::string::npos);
}

TEST_F(PixelsAtThePrompt, AreKittysWhereItsProtocolIsAnswered) {
  session_.answer(std::string(kAttributes), "\x1b_Gi=31;OK\x1b\\\x1b[?62;4c");
  session_.type(":plot [0.0, 1.0]\r");
  ASSERT_TRUE(session_.wait_until([&](const std::string&) { return has_received("m=0;"); }));
  ASSERT_TRUE(session_.wait_for_prompt());
  EXPECT_EQ(png_of(sent(kKitty)).substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_FALSE(has_received(kSixel));
}

TEST_F(PixelsAtThePrompt, AreCharactersWhereNothingIsAnswered) {
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(shows_image());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_TRUE(has_received(kAttributes));
  EXPECT_THAT(session_.screen().text(), HasSubstr("▀"));
}

TEST_F(PixelsAtThePrompt, AreAsTheyAreSet) {
  session_.type(":set pictures blocks\r");
  ASSERT_TRUE(session_.wait_for_prompt());
  ASSERT_TRUE(shows_image());
  EXPECT_FALSE(has_received(kAttributes)) << "nothing is asked";
  EXPECT_THAT(session_.screen().text(), HasSubstr("▀"));
  session_.type(":set pictures sixel\r");
  ASSERT_TRUE(session_.wait_for_prompt());
  ASSERT_TRUE(shows_image());
  EXPECT_TRUE(has_received(kSixel));
}

TEST_F(PixelsAtThePrompt, KeepWhatIsTypedWhileTheTerminalIsAsked) {
  session_.answer(std::string(kAttributes), "40 + \x1b_Gi=31;OK\x1b\\2\x1b[6;20;10t\r\x1b[?62;4c");
  session_.type(":image [[0.0, 1.0]]\r");
  EXPECT_TRUE(session_.wait_for("int32 42")) << session_.screen().text();
}

TEST_F(PixelsAtThePrompt, LateAnswersAreNoInput) {
  ASSERT_TRUE(shows_image());
  session_.type("\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t\x1b[?62;4c");
  session_.type("40 + 2\r");
  ASSERT_TRUE(session_.wait_for("int32 42")) << session_.screen().text();
  EXPECT_THAT(session_.screen().text(), HasSubstr(">>> 40 + 2\n"));
}

}  // namespace
}  // namespace quern::picture
