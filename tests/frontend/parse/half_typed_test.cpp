// Every prefix of a file, and every file without one of its tokens, is a text that somebody has on the screen
// for a moment: checking it ends soon, and what it says lies in the text.
//
//   QUERN_HALF_TYPED=1000000   how many texts; above the number of such edits, pairs of them are added

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "frontend/text/lexeme.h"
#include "frontend/text/render.h"
#include "session/session.h"

namespace quern {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShards = 4;
constexpr size_t kSampledEdits = 30000;    ///< of all files together, where nothing else is asked for
constexpr size_t kSmallFile = 8 << 10;     ///< bytes; of larger ones a sample is taken even of all edits
constexpr size_t kEditsOfLargeFile = 200;  ///< prefixes, and as many deletions
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr double kMaxSeconds = 20;
#else
constexpr double kMaxSeconds = 1;
#endif

struct File {
  fs::path path;
  std::string text;
};

std::vector<File> files() {
  std::vector<File> found;
  for (const char* folder : {"examples", "stdlib", "tests/golden", "tests/models"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(QUERN_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".relay") continue;
      std::ifstream in(entry.path(), std::ios::binary);
      std::ostringstream text;
      text << in.rdbuf();
      found.push_back({entry.path(), text.str()});
    }
  std::sort(found.begin(), found.end(), [](const File& a, const File& b) { return a.path < b.path; });
  return found;
}

/// What is left out of a file: one range, or two, the later one first.
struct Cut {
  size_t file;
  Range range, earlier{0, 0};
};

std::vector<Cut> cuts_of(size_t index, const std::string& text, std::mt19937& random) {
  auto size = static_cast<uint32_t>(text.size());
  std::vector<Cut> prefixes, tokens;
  for (uint32_t at = 0; at <= size; ++at) prefixes.push_back({index, {at, size}});
  for (const Lexeme& token : lex(with_valid_utf8(text), text.starts_with("#[")))
    tokens.push_back({index, token.range});
  std::vector<Cut> all;
  for (std::vector<Cut>* some : {&prefixes, &tokens})
    std::sample(some->begin(), some->end(), std::back_inserter(all),
                text.size() <= kSmallFile ? some->size() : kEditsOfLargeFile, random);
  return all;
}

/// Every edit where there are fewer than are asked for, with pairs of edits of one file; else a sample.
std::vector<Cut> chosen(const std::vector<Cut>& edits, size_t count, std::mt19937& random) {
  std::vector<Cut> cuts;
  std::sample(edits.begin(), edits.end(), std::back_inserter(cuts), count, random);
  while (cuts.size() < count) {
    const size_t at = random() % edits.size();
    Cut late = edits[at], early = edits[random() % edits.size()];
    // Edits of one file stand together.
    if (early.file != late.file) early = edits[at - std::min<size_t>(at, random() % 300)];
    if (early.file != late.file) continue;
    if (early.range.begin > late.range.begin) std::swap(early, late);
    if (early.range.end <= late.range.begin) cuts.push_back({late.file, late.range, early.range});
  }
  std::ranges::stable_sort(cuts, {}, &Cut::file);
  return cuts;
}

void expect_inside(const LocatedDiagnostic& d) {
  auto inside = [](Range range, std::string_view text) {
    return range.begin <= range.end && range.end <= text.size();
  };
  EXPECT_FALSE(d.message.empty());
  EXPECT_TRUE(inside(d.range, d.text)) << d.message;
  for (const LocatedNote& note : d.notes)
    EXPECT_TRUE(note.text.empty() || inside(note.range, note.text)) << d.message << "\n" << note.message;
  for (const LocatedFix& fix : d.fixes)
    for (const auto& [range, words] : fix.edits)
      EXPECT_TRUE(inside(range, d.text)) << d.message << "\n" << fix.title;
  render_terminal(d, false);
}

class HalfTyped : public testing::TestWithParam<size_t> {};

TEST_P(HalfTyped, IsCheckedSoonAndInPlace) {
  std::mt19937 random(20);
  std::vector<File> all = files();
  std::vector<Cut> edits;
  for (size_t i = 0; i < all.size(); ++i)
    for (const Cut& cut : cuts_of(i, all[i].text, random)) edits.push_back(cut);
  const char* wanted = std::getenv("QUERN_HALF_TYPED");
  const std::vector<Cut> cuts = chosen(edits, wanted ? std::stoul(wanted) : kSampledEdits, random);
  std::optional<Session> session;
  SourceId source = 0;
  // A session sees the edits of a file one after the other.
  size_t last = all.size();
  for (size_t i = GetParam(); i < cuts.size() && !HasFailure(); i += kShards) {
    const File& file = all[cuts[i].file];
    if (std::exchange(last, cuts[i].file) != cuts[i].file) {
      session.emplace();
      source = session->add_source(session->make_module(), file.path.filename().string(), "",
                                   file.path.parent_path().string());
    }
    std::string text = file.text;
    for (Range range : {cuts[i].range, cuts[i].earlier}) text.erase(range.begin, range.end - range.begin);
    SCOPED_TRACE(file.path.string() + " without bytes " + std::to_string(cuts[i].range.begin) + " to " +
                 std::to_string(cuts[i].range.end) + ", " + std::to_string(cuts[i].earlier.begin) + " to " +
                 std::to_string(cuts[i].earlier.end));
    std::clock_t before = std::clock();
    session->set_text(source, text);
    for (const LocatedDiagnostic& d : session->check(source)) expect_inside(d);
    EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, kMaxSeconds);
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, HalfTyped, testing::Range(size_t{0}, kShards));

}  // namespace
}  // namespace quern
