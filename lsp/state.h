#pragma once
// The state on which the handlers of messages work.

#include <atomic>
#include <memory>
#include <vector>

#include "ide/call_cost.h"
#include "lsp/client_process.h"
#include "lsp/documents.h"
#include "lsp/evaluation/evaluations.h"
#include "lsp/evaluation/ir_documents.h"
#include "lsp/positions.h"
#include "lsp/transport.h"
#include "lsp/workspace.h"
#include "session/session.h"

namespace quern::lsp {

/// The client's capabilities.
struct ClientFeatures {
  bool watches_files = false;          ///< it can report changes on the disk
  bool gives_settings = false;         ///< it can be asked for its settings
  bool reports_settings = false;       ///< it can report changes of its settings
  bool related_information = false;    ///< it shows notes of diagnostics separately
  bool snippets = false;               ///< completion may insert text with tab stops
  bool pulls_diagnostics = false;      ///< it pulls diagnostics, and is not sent any
  bool refreshes_diagnostics = false;  ///< it can be asked to pull all of them again
  bool location_links = false;         ///< it supports LocationLinks to declarations
  bool folds_lines = false;            ///< it folds whole lines
  bool document_changes = false;       ///< it supports edits with the versions of documents
  bool refreshes_hints = false;        ///< it can be asked to refresh inlay hints
  bool refreshes_lenses = false;       ///< the same for code lenses
  bool shows_documents = false;        ///< it can be asked to show a document
  bool resolves_edits = false;         ///< it resolves the edit of a code action when it is used
  bool label_offsets = false;          ///< parameters of a signature may be given as offsets in it
};

struct ServerState {
  ServerState(Session& session, Transport& transport)
      : session(session), transport(transport), documents(session), evaluations(*this), ir_documents(*this) {}

  Session& session;
  Transport& transport;
  Documents documents;
  Workspace workspace;
  Evaluations evaluations;
  IrDocuments ir_documents;
  PositionEncoding encoding = PositionEncoding::Utf16;  ///< as negotiated
  ClientFeatures client;
  /// Computed when no message waits. A notification drops them, since it may change their texts.
  std::vector<ide::CostToCome> costs_to_come{};
  std::unique_ptr<ClientProcess> client_process{};  ///< null where `initialize` names none
  /// Becomes true if the current request is cancelled, or if its text has changed.
  const std::atomic<bool>* stop = nullptr;
};

/// Thrown by a handler that saw `ServerState::stop`.
struct Stopped {};

}  // namespace quern::lsp
