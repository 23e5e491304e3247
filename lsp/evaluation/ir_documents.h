#pragma once
// What texts become at a stage, made by processes of their own: to compile may take long, and what is not wanted any more
// ends with its process.

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

  /// Starts to make one; the request, whose id is JSON, is answered when it is there. Throws RequestFailed for a
  /// document that is not open or read only.
  void start(const std::string& id, const VirtualAddress& address);
  /// Gives up the one that a request asked for, which is answered as cancelled.
  void stop(const std::string& id);
  /// Gives up all that are being made, since a text has changed: to be asked for again.
  void overtake();
  /// Gives up all without an answer.
  void stop_all();

 private:
  struct Job;

  void finish(const std::string& id, Worker::Ending ending, const std::string& why);
  void answer(const Job& job, Worker::Ending ending, const std::string& why);

  ServerState& state_;
  std::map<std::string, std::unique_ptr<Job>> jobs_;  ///< by the ids of their requests
};

}  // namespace quern::lsp
