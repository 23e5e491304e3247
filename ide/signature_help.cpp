#include "ide/signature_help.h"

#include "ide/open_call.h"
#include "ide/window.h"

namespace quern::ide {

namespace {

std::optional<SignatureHelp> help_at(Session& session, ModuleId module, const LexedText& lexed,
                                     uint32_t offset, std::optional<SourceWindow> window) {
  QuickParse parse(lexed);
  size_t at = 0;
  while (at < lexed.lexemes.size() && lexed.lexemes[at].range.end <= offset) ++at;
  parse.run_to(at);
  KnownTypes types(session, module, parse, window);
  std::optional<OpenCall> call = OpenCall::at(session, module, parse, types);
  if (!call) return std::nullopt;
  SignatureHelp help;
  help.active = call->active();
  if (help.active) help.expected = call->expected(*help.active);
  help.line = std::move(call->callable.line.text);
  help.parameters = std::move(call->callable.line.parameters);
  help.documentation = std::move(call->callable.documentation);
  help.open = lexed.lexemes[call->open].range.begin;
  return help;
}

}  // namespace

std::optional<SignatureHelp> signature_help(Session& session, ModuleId module, std::string_view text,
                                            uint32_t offset) {
  return help_at(session, module, lexed_text(text), offset, std::nullopt);
}

std::optional<SignatureHelp> signature_help(Session& session, SourceId source, uint32_t offset) {
  const Range window = window_at(session, source, offset);
  return help_at(session, session.module_of(source),
                 lexed_text(session.text(source), window, session.has_slash_names(source)), offset,
                 SourceWindow{source, window});
}

}  // namespace quern::ide
