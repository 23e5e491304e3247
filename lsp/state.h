#pragma once
// What the handlers of messages work on.

#include "lsp/documents.h"
#include "lsp/positions.h"
#include "lsp/transport.h"
#include "lsp/workspace.h"
#include "session/session.h"

namespace quern::lsp {

struct ServerState {
  ServerState(Session& session, Transport& transport)
      : session(session), transport(transport), documents(session) {}

  Session& session;
  Transport& transport;
  Documents documents;
  Workspace workspace;
  PositionEncoding encoding = PositionEncoding::Utf16;  ///< as negotiated
  bool watches_files = false;        ///< the client can be asked to tell of changes on the disk
  bool related_information = false;  ///< the client shows notes of diagnostics by themselves
  bool location_links = false;       ///< the client takes LocationLinks for places of declarations
  bool folds_lines = false;          ///< the client folds whole lines
  bool document_changes = false;     ///< the client takes edits with the versions of documents
};

}  // namespace quern::lsp
