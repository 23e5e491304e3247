#pragma once
// A source that is part of a module temporarily.

#include <string>
#include <utility>

#include "session/session.h"

namespace quern::ide {

/// Adds a source to a module, as its last one, and removes it on destruction.
class AddedSource {
 public:
  AddedSource(Session& session, ModuleId module, std::string path, std::string text)
      : session_(session),
        module_(module),
        id_(session.add_source(module, std::move(path), std::move(text))) {}
  ~AddedSource() { session_.remove_last_source(module_); }
  AddedSource(const AddedSource&) = delete;
  AddedSource& operator=(const AddedSource&) = delete;
  SourceId id() const { return id_; }

 private:
  Session& session_;
  ModuleId module_;
  SourceId id_;
};

}  // namespace quern::ide
