#pragma once
// The weights of a model as one record: its types in the text, its tensors in a file.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "import/text/names.h"
#include "import/text/term.h"
#include "ir/io/data_files.h"

namespace quern::import_text {

/// Stands before and after the number of a weight in the text.
constexpr char kMark = '\x01';

/// Weights by the hierarchical names that the model gives them. The text refers to one by a mark, for which its projection
/// stands once all are known.
class Weights {
 public:
  /// The mark of a weight in the text; the same for the same tensor. Its path is that of its name.
  std::string add(const Term& constant);
  const Term& weight(size_t number) const { return tensors_[number]; }
  bool empty() const { return tensors_.empty(); }

  /// What the record's types are called, and its entries; once all weights are known.
  struct Record {
    std::string declarations;    ///< `type Weights { Weights(…) }`, preceded by the types of its fields
    Entries<TensorPtr> entries;  ///< for a `load` of `Weights`
    std::vector<std::string> projections;  ///< by number: `conv1.weight`
    std::map<std::vector<std::string>, std::pair<std::string, std::string>>
        parts;  ///< by path: projection and type
  };
  Record record() const;

 private:
  struct Part;
  std::vector<Term> tensors_;
  std::map<const HostTensor*, size_t> numbers_;
};

/// The number of the weight whose mark begins at `at`, and where the mark ends.
std::pair<size_t, size_t> weight_at(std::string_view text, size_t at);
/// The text with `before` and its projection instead of each mark.
std::string with_projections(std::string_view text, std::string_view before,
                             const std::vector<std::string>& projections);

}  // namespace quern::import_text
