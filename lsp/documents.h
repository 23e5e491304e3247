#pragma once
// The client's open documents, mirrored into the session.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ide/type_hints.h"
#include "ir/base/result.h"
#include "lsp/positions.h"
#include "session/session.h"

namespace quern::lsp {

/// The semantic tokens that were sent last, with the number of the response.
struct SentTokens {
  uint64_t result = 0;  ///< 0: none were sent
  std::vector<uint32_t> data;
};

/// The tokens of a part of a text between declarations, in the protocol's form, as if the text began with it.
struct EncodedPart {
  Position last;  ///< of the last one
  Position end;   ///< of the part's text
  std::vector<uint32_t> data;
};
struct KnownTokens {
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Parts = std::unordered_map<std::string, EncodedPart, Hash, std::equal_to<>>;

  size_t names = 0;  ///< hash of what the tokens depend on besides the text
  Parts parts{};     ///< by text
};

struct Document {
  std::string uri, path;
  int64_t version = 0;
  SourceId source = 0;  ///< unused for a transcript
  bool open = false;
  bool is_transcript = false;  ///< its text is not a program, and is not in the session
  std::string transcript;      ///< the text of a transcript
  bool read_only = false;      ///< of the library, whose text never changes
  /// False from an invalid edit until the client sends the whole text again; in between, the client's text is unknown.
  bool in_step = true;
  bool diagnostics_due = false;
  SentTokens tokens;
  KnownTokens known_tokens;
  ide::KnownHints hints;
};

/// A change of a document's text; without a range, `text` is all of it.
struct TextChange {
  std::optional<PositionRange> range;
  std::string text;
};

/// The path that a file: URI names, percent-decoded; any other URI as it is.
std::string path_of_uri(std::string_view uri);
/// The file: URI of an absolute path.
std::string uri_of_path(std::string_view path);

class Documents {
 public:
  explicit Documents(Session& session) : session_(session) {}

  /// The open document of a URI, or null. Only `find_any` finds transcripts, so that requests about programs ignore
  /// them.
  Document* find(std::string_view uri);
  Document* find_any(std::string_view uri);
  const std::string& text(const Document& document) const;
  /// The source of a document that is open, of a file of the library or of a file on the disk. Nothing if there is
  /// none, or if it is out of step with the client.
  std::optional<SourceId> source_of(std::string_view uri);
  /// The source of `quern:/library/NAME.relay`, or of a module, `quern:/library/models/NAME.relay`; nothing for any other URI.
  std::optional<SourceId> library_source(std::string_view uri);
  /// The client's URI of a source.
  std::string uri_of(SourceId source);
  /// The open document of a source, or null.
  const Document* of_source(SourceId source) const;
  /// Opens a document, or replaces the text of an open one. A document that is opened again keeps its module.
  Document& open(const std::string& uri, int64_t version, std::string text);
  /// Applies the changes in order. An invalid one leaves the text unchanged and the document out of step.
  Result<Done> change(Document& document, const std::vector<TextChange>& changes, PositionEncoding encoding);
  void close(Document& document);
  /// Rereads the files that are not open, which may have changed on the disk.
  void reread_files();
  /// The texts of the open documents by path, without those of the library and those out of step with the client. Of
  /// the transcripts, only this one.
  std::map<std::string, std::string> texts(const Document* transcript = nullptr);
  /// Visits the open documents, including transcripts.
  void each_open(const std::function<void(Document&)>& visit);

 private:
  /// The diagnostics of a file that imports a changed one may have changed too.
  void mark_importers(const Document& changed);

  Session& session_;
  std::map<std::string, Document, std::less<>> documents_;  ///< by URI, closed ones too
};

}  // namespace quern::lsp
