#include "ide/signature_help.h"

#include "ide/open_call.h"

namespace quern::ide {

namespace {

std::optional<SignatureHelp> help_at(Session& session, ModuleId module, std::string_view text,
                                     uint32_t offset, std::optional<SourceId> source) {
  const LexedText lexed = lexed_text(text);
  QuickParse parse(lexed);
  size_t at = 0;
  while (at < lexed.lexemes.size() && lexed.lexemes[at].range.end <= offset) ++at;
  parse.run_to(at);
  KnownTypes types(session, module, parse, source);
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
  return help_at(session, module, text, offset, std::nullopt);
}

std::optional<SignatureHelp> signature_help(Session& session, SourceId source, uint32_t offset) {
  return help_at(session, session.module_of(source), session.text(source), offset, source);
}

}  // namespace quern::ide
