#include "frontend/image/text_image.h"

#include <cstring>
#include <unordered_map>
#include <vector>

#include "ir/base/internal_failure.h"
#include "ir/base/result.h"

namespace quern {

namespace {

// An image: the header, the offsets of the pieces' trees, the trees, the pieces, and the strings of both.
struct ImageHeader {
  uint32_t pieces, scan_at, strings_at;
};

// Numbers take seven bits per byte, lowest first.
class ImageWriter {
 public:
  std::string bytes;

  void number(uint64_t n) {
    for (; n >= 0x80; n >>= 7) bytes.push_back(static_cast<char>(n | 0x80));
    bytes.push_back(static_cast<char>(n));
  }
  void difference(int64_t n) { number(static_cast<uint64_t>(n) << 1 ^ static_cast<uint64_t>(n >> 63)); }
  /// A string by its position in `strings`, where each occurs once.
  void string(std::string_view text) {
    number(text.size());
    if (text.empty()) return;
    auto [known, added] = places_.try_emplace(std::string(text), strings.size());
    if (added) strings += text;
    number(known->second);
  }
  void tree(SyntaxPtr node, const std::vector<Range>& spans) {
    if (!node) return number(0);
    number(static_cast<uint64_t>(node->kind) + 1);
    string(node->text);
    range(spans[node->id]);
    number(node->children.size());
    for (SyntaxPtr child : node->children) tree(child, spans);
  }
  void range(Range range) {
    difference(static_cast<int64_t>(range.begin) - last_begin_);
    number(range.end - range.begin);
    last_begin_ = range.begin;
  }
  void start_over() { last_begin_ = 0; }
  std::string strings;

 private:
  std::unordered_map<std::string, size_t> places_;
  int64_t last_begin_ = 0;
};

class ImageReader {
 public:
  ImageReader(std::string_view bytes, size_t at, std::string_view strings)
      : next_(bytes.data() + at), strings_(strings) {}

  uint64_t number() {
    uint64_t n = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(*next_++);
      n |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return n;
    }
  }
  int64_t difference() {
    const uint64_t n = number();
    return static_cast<int64_t>(n >> 1) ^ -static_cast<int64_t>(n & 1);
  }
  std::string_view string() {
    const uint64_t length = number();
    return length == 0 ? std::string_view() : strings_.substr(number(), length);
  }
  Range range() {
    last_begin_ += difference();
    const auto begin = static_cast<uint32_t>(last_begin_);
    return {begin, begin + static_cast<uint32_t>(number())};
  }
  /// Nodes are numbered in preorder, as the parser does; `spans` receives their ranges.
  SyntaxPtr tree(Arena& arena, std::vector<Range>& spans) {
    const uint64_t kind = number();
    if (kind == 0) return nullptr;
    const auto id = static_cast<uint32_t>(spans.size());
    const std::string_view text = string();
    spans.push_back(range());
    std::vector<SyntaxPtr> children(number());
    for (SyntaxPtr& child : children) child = tree(arena, spans);
    return arena.make<Syntax>(static_cast<SyntaxKind>(kind - 1), id, text, arena.copy(children));
  }

 private:
  const char* next_;
  std::string_view strings_;
  int64_t last_begin_ = 0;
};

ImageHeader image_header(std::string_view bytes) {
  ImageHeader header;
  std::memcpy(&header, bytes.data(), sizeof(ImageHeader));
  return header;
}

ImageReader image_reader(std::string_view bytes, size_t at) {
  return ImageReader(bytes, at, bytes.substr(image_header(bytes).strings_at));
}

}  // namespace

std::optional<std::string> image_of(std::string_view text) {
  const ScanOutcome scanned = scan(text);
  if (!scanned.problems.empty() || scanned.slash_names || scanned.metadata.end != scanned.metadata.begin)
    return std::nullopt;
  ImageWriter writer;
  std::vector<uint32_t> tree_at;
  const auto first = static_cast<uint32_t>(sizeof(ImageHeader) + scanned.pieces.size() * sizeof(uint32_t));
  for (const Piece& piece : scanned.pieces) {
    const ParseOutcome parsed =
        parse_declaration(text.substr(piece.range.begin, piece.range.end - piece.range.begin), false);
    if (!parsed.problems.empty()) return std::nullopt;
    tree_at.push_back(first + static_cast<uint32_t>(writer.bytes.size()));
    writer.start_over();
    writer.range(parsed.spans[0]);
    writer.tree(parsed.tree.root, parsed.spans);
  }
  ImageHeader header{static_cast<uint32_t>(scanned.pieces.size()),
                     first + static_cast<uint32_t>(writer.bytes.size()), 0};
  writer.start_over();
  writer.range({scanned.begin, scanned.end});
  for (const Piece& piece : scanned.pieces) {
    writer.number(static_cast<uint64_t>(piece.kind));
    writer.string(piece.name);
    writer.range(piece.range);
    writer.string(piece.doc);
  }
  header.strings_at = first + static_cast<uint32_t>(writer.bytes.size());
  std::string image(sizeof(ImageHeader), '\0');
  std::memcpy(image.data(), &header, sizeof(ImageHeader));
  image.append(reinterpret_cast<const char*>(tree_at.data()), tree_at.size() * sizeof(uint32_t));
  return image + writer.bytes + writer.strings;
}

ScanOutcome TextImage::scan() const {
  const ImageHeader header = image_header(bytes_);
  ImageReader reader = image_reader(bytes_, header.scan_at);
  ScanOutcome scanned;
  const Range all = reader.range();
  scanned.begin = all.begin;
  scanned.end = all.end;
  scanned.pieces.reserve(header.pieces);
  for (uint32_t i = 0; i < header.pieces; ++i) {
    const auto kind = static_cast<PieceKind>(reader.number());
    const std::string_view name = reader.string();
    const Range range = reader.range();
    scanned.pieces.push_back({kind, std::string(name), range, std::string(reader.string())});
  }
  return scanned;
}

ParseOutcome TextImage::parsed(size_t piece) const {
  QUERN_CHECK(piece < image_header(bytes_).pieces);
  uint32_t at = 0;
  std::memcpy(&at, bytes_.data() + sizeof(ImageHeader) + piece * sizeof(uint32_t), sizeof(uint32_t));
  ImageReader reader = image_reader(bytes_, at);
  auto arena = std::make_shared<Arena>();
  ParseOutcome outcome;
  outcome.spans.push_back(reader.range());
  outcome.tree.root = reader.tree(*arena, outcome.spans);
  outcome.tree.head = head_of(outcome.tree.root, *arena);
  outcome.tree.node_count = static_cast<uint32_t>(outcome.spans.size() - 1);
  outcome.tree.arena = std::move(arena);
  return outcome;
}

}  // namespace quern
