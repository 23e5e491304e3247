#pragma once

#include "ide/symbols.h"

namespace quern::lsp {

/// The protocol's SymbolKind.
inline int protocol_kind(ide::SymbolKind kind) {
  enum Protocol : int {
    Module = 2,
    Class = 5,
    Property = 7,
    Field = 8,
    Constructor = 9,
    Enum = 10,
    Function = 12,
    Variable = 13,
    Constant = 14,
    Struct = 23,
    Event = 24,
    Operator = 25,
    TypeParameter = 26,
  };
  switch (kind) {
    case ide::SymbolKind::Import: return Module;
    case ide::SymbolKind::Function: return Function;
    case ide::SymbolKind::Operator: return Operator;
    case ide::SymbolKind::Record: return Struct;
    case ide::SymbolKind::Cases: return Enum;
    case ide::SymbolKind::Alias: return TypeParameter;
    case ide::SymbolKind::ExternType: return Class;
    case ide::SymbolKind::Constructor: return Constructor;
    case ide::SymbolKind::Field: return Field;
    case ide::SymbolKind::Variable: return Variable;
    case ide::SymbolKind::Attribute: return Property;
    case ide::SymbolKind::Constant: return Constant;
    case ide::SymbolKind::Test: return Event;
  }
  return Variable;
}

}  // namespace quern::lsp
