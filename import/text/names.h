#pragma once
// Names of a model as names of the language.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace quern::import_text {

/// A name of letters, digits and `_` that begins with a letter, as like the given one as may be: "onnx::MatMul_12" is
/// `MatMul_12`. `fallback` stands for one that has no letter.
std::string identifier(std::string_view name, std::string_view fallback);
/// The same in lower case with `_` between words: "BatchNormalization" is `batch_normalization`.
std::string snake_case(std::string_view name);
/// "layer1" is `Layer1`.
std::string type_name(std::string_view name);
/// The parts of a hierarchical name, as identifiers or numbers: "/layer1/layer1.0/conv1" is `layer1 0 conv1`.
std::vector<std::string> path_of(std::string_view name);
/// Whether a name is one of the words of the language.
bool is_word(std::string_view name);
bool is_number(std::string_view name);

/// Gives each name once.
class Names {
 public:
  /// The name, or with a number behind it where it is taken.
  std::string unique(std::string_view name);

 private:
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, int> next_;  ///< by name: the lowest number that may be free
};

}  // namespace quern::import_text
