#pragma once
// Long bodies, chunk by chunk (frontend/infer/chunks.h). Each chunk is a declaration.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/infer/chunks.h"
#include "frontend/parse/body_chunks.h"
#include "session/db/keys.h"
#include "session/query/query.h"

namespace quern {

class Database;

class Bodies {
  Database& db_;  // before the tables, which need it

 public:
  explicit Bodies(Database& db);

  /// The chunks of a definition, in order; none for a short one.
  Input<ByDeclaration, std::vector<DeclarationId>> chunks{tables(), "chunks"};
  /// The neighbour of a chunk, or 0.
  Input<ByDeclaration, DeclarationId> next{tables(), "next chunks"};
  Input<ByDeclaration, DeclarationId> previous{tables(), "previous chunks"};
  /// A definition's chunks, in its text.
  std::unordered_map<DeclarationId, BodyChunks> in_text;

  /// The names that a chunk binds.
  Query<ByDeclaration, std::vector<std::string>> names{tables(), *this, "chunk_names", &Bodies::names_of,
                                                       std::equal_to<>()};
  /// Per definition, a map from names to chunks.
  Query<ByDeclaration, std::map<std::string, std::vector<DeclarationId>>> index{
      tables(), *this, "body_index", &Bodies::index_of, std::equal_to<>()};
  /// The chunks of a definition that bind a name.
  Query<ByBodyName, std::vector<DeclarationId>> binders{tables(), *this, "binders", &Bodies::binders_of,
                                                        std::equal_to<>()};
  Query<ByDeclaration, std::shared_ptr<const BodyHead>> head{tables(), *this, "body_head", &Bodies::head_of};
  /// The run that starts with a chunk.
  Query<ByDeclaration, std::shared_ptr<const BodyRun>> run{tables(), *this, "infer_chunk", &Bodies::run_at};
  /// The first chunk of the run that contains a chunk.
  Query<ByDeclaration, DeclarationId> run_start{tables(), *this, "run_start", &Bodies::start_of_run,
                                                std::equal_to<>()};
  /// A variable that a chunk binds.
  Query<ByBodyName, std::shared_ptr<const TopLevelVariable>> variable{
      tables(), *this, "chunk_variable", &Bodies::variable_of, std::equal_to<>()};

  /// Nothing if the body must be inferred as a whole.
  std::optional<Inferred> infer(DeclarationId def);
  /// The last chunk before this one that binds a name, or 0.
  DeclarationId binder_before(DeclarationId chunk, const std::string& name);
  /// The variable that a name denotes at the start of a chunk, or null.
  std::shared_ptr<const TopLevelVariable> find(DeclarationId chunk, const std::string& name);
  /// The names that it can see, for suggestions.
  std::vector<std::string> names_before(DeclarationId chunk);
  /// `edit`: what made this text of the one before; nothing for another text.
  void set(DeclarationId def, std::string_view text, std::optional<TextEdit> edit);
  /// Forgets the names of a definition or a chunk that is about to be dropped.
  void drop_names(DeclarationId id);
  /// Converts a range in a parsed declaration (a chunk, or a definition without its chunks) to the piece's
  /// text.
  Range in_whole(DeclarationId id, Range range) const;

 private:
  friend class RunSource;
  Tables& tables();
  std::vector<std::string> names_of(DeclarationId chunk);
  std::map<std::string, std::vector<DeclarationId>> index_of(DeclarationId def);
  std::vector<DeclarationId> binders_of(const BodyName& key);
  std::shared_ptr<const BodyHead> head_of(DeclarationId def);
  std::shared_ptr<const BodyRun> run_at(DeclarationId start);
  DeclarationId start_of_run(DeclarationId chunk);
  std::shared_ptr<const TopLevelVariable> variable_of(const BodyName& key);
};

}  // namespace quern
