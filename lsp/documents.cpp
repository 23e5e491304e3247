#include "lsp/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <utility>

#include "ide/transcript.h"
#include "lsp/percent.h"

namespace quern::lsp {

namespace {

constexpr std::string_view kLibraryUri = "quern:/library/", kLibraryPath = "stdlib/", kModulePath = "quern:";

// The index of the last change that replaces everything, or 0; changes before it have no effect.
size_t first_that_counts(const std::vector<TextChange>& changes) {
  for (size_t i = changes.size(); i-- > 0;)
    if (!changes[i].range) return i;
  return 0;
}

}  // namespace

std::string path_of_uri(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme)) return std::string(uri);
  std::string_view rest = uri.substr(kScheme.size());
  size_t slash = rest.find('/');  // what is before it is the host
  return slash == std::string_view::npos ? std::string(uri) : percent_decoded(rest.substr(slash));
}

std::string uri_of_path(std::string_view path) { return "file://" + percent_encoded(path); }

Document* Documents::find(std::string_view uri) {
  Document* document = find_any(uri);
  return document && !document->is_transcript ? document : nullptr;
}

Document* Documents::find_any(std::string_view uri) {
  auto it = documents_.find(uri);
  return it != documents_.end() && it->second.open ? &it->second : nullptr;
}

const std::string& Documents::text(const Document& document) const {
  return document.is_transcript ? document.transcript : session_.text(document.source);
}

const Document* Documents::of_source(SourceId source) const {
  for (const auto& [uri, document] : documents_)
    if (document.open && !document.is_transcript && document.source == source) return &document;
  return nullptr;
}

std::optional<SourceId> Documents::library_source(std::string_view uri) {
  if (!uri.starts_with(kLibraryUri)) return std::nullopt;
  const std::string name(uri.substr(kLibraryUri.size()));
  const auto source = session_.find_source(std::string(kLibraryPath) + name);
  return source && session_.is_library(*source) ? source
                                                : session_.find_file(std::string(kModulePath) + name);
}

std::optional<SourceId> Documents::source_of(std::string_view uri) {
  if (const Document* document = find(uri))
    return document->in_step ? std::optional(document->source) : std::nullopt;
  if (const auto source = library_source(uri)) return source;
  const std::string path = path_of_uri(uri);
  return path == uri || ide::is_transcript(path) ? std::nullopt : session_.find_file(path);
}

std::string Documents::uri_of(SourceId source) {
  if (const Document* document = of_source(source)) return document->uri;
  const std::string& path = session_.path(source);
  if (session_.is_library(source)) return std::string(kLibraryUri) + path.substr(kLibraryPath.size());
  if (session_.is_read_only(source)) return std::string(kLibraryUri) + path.substr(kModulePath.size());
  std::error_code error;
  const std::filesystem::path full = std::filesystem::absolute(path, error);
  return uri_of_path(error ? path : full.lexically_normal().string());
}

Document& Documents::open(const std::string& uri, int64_t version, std::string text) {
  auto [it, added] = documents_.try_emplace(uri);
  Document& document = it->second;
  if (added) {
    document.uri = uri;
    document.path = path_of_uri(uri);
  }
  if (ide::is_transcript(document.path)) {
    document.transcript = std::move(text);
    document.version = version;
    document.open = document.in_step = document.is_transcript = document.diagnostics_due = true;
    return document;
  }
  if (const auto source = library_source(uri)) {
    document.source = *source;
    document.version = version;
    document.open = document.read_only = true;
    document.in_step = session_.text(*source) == text;
    return document;
  }
  // A buffer that is not a file (`untitled:`) has no path that an import could name.
  bool is_file = document.path != document.uri;
  if (is_file)
    document.source = session_.open_file(document.path, std::move(text));
  else if (added)
    document.source = session_.add_source(session_.make_module(), document.path, std::move(text));
  else
    session_.set_text(document.source, std::move(text));
  mark_importers(document);
  document.version = version;
  document.open = document.in_step = document.diagnostics_due = true;
  return document;
}

Result<Done> Documents::change(Document& document, const std::vector<TextChange>& changes,
                               PositionEncoding encoding) {
  size_t first = first_that_counts(changes);
  bool whole = !changes.empty() && !changes[first].range;
  if (!document.in_step && !whole) return Done{};
  if (document.read_only) {
    document.in_step = false;
    return Failure{"a file of the library is read only"};
  }
  document.diagnostics_due = true;
  document.in_step =
      std::none_of(changes.begin() + static_cast<std::ptrdiff_t>(first), changes.end(),
                   [](const TextChange& c) { return c.range && c.range->end < c.range->start; });
  if (!document.in_step) return Failure{"the end of a change's range is before its start"};
  for (size_t i = first; i < changes.size(); ++i) {
    const TextChange& change = changes[i];
    std::optional<Range> range;
    if (change.range) {
      const Positions positions(text(document), encoding);
      range = {positions.offset(change.range->start), positions.offset(change.range->end)};
    }
    if (document.is_transcript && range)
      document.transcript.replace(range->begin, range->end - range->begin, change.text);
    else if (document.is_transcript)
      document.transcript = change.text;
    else if (range)
      session_.edit(document.source, *range, change.text);
    else
      session_.set_text(document.source, change.text);
  }
  mark_importers(document);
  return Done{};
}

void Documents::close(Document& document) {
  if (document.read_only) {
    document.open = false;
    return;
  }
  if (document.is_transcript)
    document.transcript.clear();
  else if (document.path != document.uri)
    session_.close_file(document.source);
  else
    session_.set_text(document.source, "");
  document.open = document.diagnostics_due = false;
  mark_importers(document);
}

void Documents::reread_files() {
  session_.reread_files();
  for (auto& [uri, document] : documents_) document.diagnostics_due |= document.open && !document.read_only;
}

void Documents::mark_importers(const Document& changed) {
  if (changed.is_transcript) return;
  for (auto& [uri, document] : documents_) {
    if (!document.open || document.is_transcript) continue;
    std::vector<SourceId> imported = session_.imported(document.source);
    if (std::find(imported.begin(), imported.end(), changed.source) != imported.end())
      document.diagnostics_due = true;
  }
}

std::map<std::string, std::string> Documents::texts(const Document* transcript) {
  std::map<std::string, std::string> all;
  each_open([&](const Document& document) {
    const bool is_wanted = !document.is_transcript || &document == transcript;
    if (is_wanted && !document.read_only && document.in_step) all[document.path] = text(document);
  });
  return all;
}

void Documents::each_open(const std::function<void(Document&)>& visit) {
  for (auto& [uri, document] : documents_)
    if (document.open) visit(document);
}

}  // namespace quern::lsp
