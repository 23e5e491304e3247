// The memory of a session.

#include "ir/base/interned.h"
#include "session/db/database.h"
#include "session/session.h"

namespace quern {

std::vector<MemoryUse> Session::memory_report() const {
  const Database& db = *db_;
  MemoryUse texts{"texts of files and inputs", db.layouts.size(), 0};
  for (const auto& layout : db.layouts)
    texts.bytes += layout->text->capacity() + layout->scan.pieces.capacity() * sizeof(Piece);
  std::vector<MemoryUse> report{texts, {"declarations", db.declarations.size(), db.declarations.bytes()}};
  for (MemoryUse& table : db.memory()) report.push_back(std::move(table));
  const Interned dims = interned_dims(), types = interned_types();
  report.push_back({"what was computed from what", 0, db.engine.bookkeeping_bytes()});
  report.push_back({"different dims", dims.count, dims.bytes});
  report.push_back({"different types", types.count, types.bytes});
  return report;
}

}  // namespace quern
