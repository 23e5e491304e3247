// What most files read that ask a session, precompiled once for all rooms above it.
#pragma once

#include "cmake/pch/std.h"
#include "session/session.h"
