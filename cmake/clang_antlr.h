// ANTLR's runtime default-constructs a class with const members, which GCC takes and Clang does not. For
// Clang this file is included first: it reads the one header concerned with a class in its place that can be
// constructed. Nothing of Quern uses what that header declares.
#pragma once

#include <Vocabulary.h>
#include <antlr4-common.h>
#include <atn/ATN.h>

namespace antlr4::dfa {

struct EmptyVocabulary : Vocabulary {
  EmptyVocabulary() : Vocabulary({}, {}) {}
  using Vocabulary::Vocabulary;
};

}  // namespace antlr4::dfa

#define Vocabulary EmptyVocabulary
#include <misc/InterpreterDataReader.h>
#undef Vocabulary
