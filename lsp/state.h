#pragma once
// What the handlers of messages work on.

#include <atomic>
#include <vector>

#include "ide/call_cost.h"
#include "lsp/documents.h"
#include "lsp/evaluation/evaluations.h"
#include "lsp/evaluation/ir_documents.h"
#include "lsp/positions.h"
#include "lsp/transport.h"
#include "lsp/workspace.h"
#include "session/session.h"

namespace quern::lsp {

/// What the client said that it can do.
struct ClientFeatures {
  bool watches_files = false;          ///< it can be asked to tell of changes on the disk
  bool related_information = false;    ///< it shows notes of diagnostics by themselves
  bool snippets = false;               ///< completion may insert text with places to go on at
  bool pulls_diagnostics = false;      ///< it asks for diagnostics, and is not sent any
  bool refreshes_diagnostics = false;  ///< it can be asked to ask for all of them again
  bool location_links = false;         ///< it takes LocationLinks for places of declarations
  bool folds_lines = false;            ///< it folds whole lines
  bool document_changes = false;       ///< it takes edits with the versions of documents
  bool refreshes_hints = false;        ///< it can be asked to ask for inlay hints again
  bool refreshes_lenses = false;       ///< the same of code lenses
  bool shows_documents = false;        ///< it can be asked to show a document
  bool resolves_edits = false;         ///< it asks for the edit of a code action when it is taken
  bool label_offsets = false;          ///< parameters of a signature may be given by their places in it
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
  /// To be worked out when no message waits. A notification drops them: it may change the texts that they are of.
  std::vector<ide::CostToCome> costs_to_come{};
  /// Becomes true where the answer to the present request is not wanted any more, or is of an old text.
  const std::atomic<bool>* stop = nullptr;
};

/// Thrown by a handler that saw `ServerState::stop`.
struct Stopped {};

}  // namespace quern::lsp
