// What nearly every test reads, precompiled once for all of their programs.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "cmake/pch/std.h"
#include "session/session.h"
