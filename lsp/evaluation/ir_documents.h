#pragma once
// The IR of texts at a stage, made by separate processes: compiling may take long, and is cancelled by ending the
// process.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "lsp/evaluation/worker.h"
#include "lsp/virtual_address.h"

namespace quern::lsp {

struct ServerState;

class IrDocuments {
 public:
  explicit IrDocuments(ServerState& state);
  ~IrDocuments();
  IrDocuments(const IrDocuments&) = delete;
  IrDocuments& operator=(const IrDocuments&) = delete;

  /// Starts to make a document; the request, whose id is JSON, is answered when it is complete. Throws RequestFailed
  /// for a document that is not open or read only.
  void start(const std::string& id, const VirtualAddress& address);
  /// Stops making the document of a request, which is answered as cancelled.
  void stop(const std::string& id);
  /// Stops all because a text has changed; the answers let clients repeat their requests.
  void overtake();
  /// Stops all without an answer.
  void stop_all();

 private:
  struct Job;

  void finish(const std::string& id, Worker::Ending ending, const std::string& why);
  void answer(const Job& job, Worker::Ending ending, const std::string& why);

  ServerState& state_;
  std::map<std::string, std::unique_ptr<Job>> jobs_;  ///< by the ids of their requests
};

}  // namespace quern::lsp
