#include "lsp/evaluation/ir_documents.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "ide/ir_document.h"
#include "lsp/evaluation/messages.h"
#include "lsp/protocol.h"
#include "lsp/state.h"

namespace quern::lsp {

namespace {

using nlohmann::json;

json to_json(const ide::Lines& lines) { return json::array({lines.first, lines.last}); }

json to_json(const std::vector<ide::MappedLines>& map) {
  json all = json::array();
  for (const ide::MappedLines& lines : map) {
    json source = json::array();
    for (const ide::Lines& from : lines.source) source.push_back(to_json(from));
    all.push_back({{"lines", to_json(lines.shown)}, {"source", std::move(source)}});
  }
  return all;
}

}  // namespace

struct IrDocuments::Job {
  std::string id;
  int64_t version;  ///< of the document
  std::string said{};
  bool is_overtaken = false;
  std::unique_ptr<Worker> worker{};
};

IrDocuments::IrDocuments(ServerState& state) : state_(state) {}
IrDocuments::~IrDocuments() = default;

void IrDocuments::start(const std::string& id, const VirtualAddress& address) {
  if (!state_.evaluations.is_enabled()) throw RequestFailed("this server compiles nothing");
  const Document* document = state_.documents.find(address.uri);
  if (!document || !document->in_step) throw RequestFailed(fmt::format("{} is not open", address.uri));
  if (document->read_only)
    throw RequestFailed(fmt::format("{} is read only: ask for a text that calls it", address.uri));
  ide::IrRequest request{document->path, state_.documents.texts(), address.function, address.stage};
  Worker::Events events;
  events.line = [this, id](std::string line) {
    if (const auto job = jobs_.find(id); job != jobs_.end()) job->second->said = std::move(line);
  };
  events.end = [this, id](Worker::Ending ending, const std::string& why) { finish(id, ending, why); };
  Job& kept = *(jobs_[id] = std::make_unique<Job>(Job{id, document->version}));
  kept.worker = state_.evaluations.process(std::move(request), std::move(events));
}

void IrDocuments::stop(const std::string& id) {
  if (const auto job = jobs_.find(id); job != jobs_.end()) job->second->worker->stop();
}

void IrDocuments::overtake() {
  for (auto& [id, job] : jobs_) {
    job->is_overtaken = true;
    job->worker->stop();
  }
}

void IrDocuments::stop_all() { jobs_.clear(); }

void IrDocuments::finish(const std::string& id, Worker::Ending ending, const std::string& why) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  const std::unique_ptr<Job> job = std::move(found->second);
  jobs_.erase(found);
  answer(*job, ending, why);
}

void IrDocuments::answer(const Job& job, Worker::Ending ending, const std::string& why) {
  const json id = json::parse(job.id);
  const auto fail = [&](ErrorCode code, const std::string& message, const json& data = nullptr) {
    send_error<json>(state_.transport, id, code, message, data);
  };
  if (job.is_overtaken) return fail(kServerCancelled, "the text has changed", {{"retriggerRequest", true}});
  if (ending == Worker::Ending::Stopped) return fail(kRequestCancelled, "the client cancelled it");
  if (ending == Worker::Ending::TimedOut)
    return fail(kRequestFailed,
                fmt::format("to compile it took longer than {} s and was ended; the setting "
                            "`evaluation.seconds` gives it more",
                            std::chrono::duration<double>(state_.evaluations.limits().time).count()));
  if (!why.empty()) return fail(kRequestFailed, fmt::format("compiling failed: {}", why));
  const Result<ide::IrDocument> made = decode_ir(job.said);
  if (!made) return fail(kRequestFailed, made.error().message);
  send_result<json>(state_.transport, id,
                    {{"text", made->text}, {"version", job.version}, {"map", to_json(made->map)}});
}

}  // namespace quern::lsp
