// ANTLR's runtime and the generated parser, for frontend/parser*.cpp.
#pragma once

#include <antlr4-runtime.h>

#include <QuernBaseVisitor.h>
#include <QuernLexer.h>
#include <QuernParser.h>

#include "cmake/pch/std.h"
