#pragma once
// The requests of a notebook (Jupyter's messaging protocol 5.3, by xeus), answered from the session of a prompt.

#include <memory>
#include <string>

#include <xeus/xinterpreter.hpp>

#include "jupyter/printed_text.h"
#include "jupyter/session_worker.h"
#include "jupyter/shown_picture.h"

namespace quern::jupyter {

class Interpreter final : public xeus::xinterpreter {
 public:
  Interpreter();
  ~Interpreter() override;

 private:
  using Json = nl::json;

  void configure_impl() override;
  /// Runs a cell. Output and pictures are published at once, and a result with rows and columns also as a table. An error
  /// ends the cell; the inputs before the error remain in effect.
  Json execute_request_impl(int execution_counter, const std::string& code, bool silent, bool store_history,
                            Json user_expressions, bool allow_stdin) override;
  Json complete_request_impl(const std::string& code, int cursor_pos) override;
  Json inspect_request_impl(const std::string& code, int cursor_pos, int detail_level) override;
  Json is_complete_request_impl(const std::string& code) override;
  Json kernel_info_request_impl() override;
  void shutdown_request_impl() override;

  /// Publishes the output so far and the picture that follows it; appends diagnostics to `problems`.
  void publish_shown(bool silent, std::string& problems);
  void publish_printed(bool silent, std::string& problems);

  bool has_begun_ = false;
  PrintedText printed_;
  PictureExchange pictures_;
  SessionWorker worker_;
};

}  // namespace quern::jupyter
