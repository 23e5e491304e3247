#include "ide/signature_help.h"

#include "ide/open_call.h"

namespace quern::ide {

std::optional<SignatureHelp> signature_help(Session& session, ModuleId module, std::string_view text,
                                            uint32_t offset) {
  const LexedText lexed = lexed_text(text);
  QuickParse parse(lexed);
  size_t at = 0;
  while (at < lexed.lexemes.size() && lexed.lexemes[at].range.end <= offset) ++at;
  parse.run_to(at);
  KnownTypes types(session, module, parse);
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

}  // namespace quern::ide
