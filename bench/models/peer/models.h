#pragma once
// The models of the bench as networks of oneDNN's primitives.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/models/peer/network.h"

namespace quern::bench {

struct Model {
  std::vector<Choices> choices;        ///< the ways that may be fastest
  std::function<void(Network&)> make;  ///< of a new network, up to its `finish`
};

/// By their names.
using Models = std::map<std::string, Model>;
void add_vision(Models& models);
void add_transformers(Models& models);
void add_recurrent(Models& models);

}  // namespace quern::bench
