#pragma once

#include <functional>
#include <thread>

#include "lsp/owned_file.h"

namespace quern::lsp {

/// Watches the process that `initialize` names as the client's: whoever inherited the server's input may hold it open
/// after that has ended.
class ClientProcess {
 public:
  /// `ended` is called on another thread. A process that is not there, or not in this namespace, is not watched.
  ClientProcess(int id, std::function<void()> ended);
  ~ClientProcess();
  ClientProcess(const ClientProcess&) = delete;
  ClientProcess& operator=(const ClientProcess&) = delete;

 private:
  OwnedFile process_, wake_;
  std::thread thread_;
};

}  // namespace quern::lsp
