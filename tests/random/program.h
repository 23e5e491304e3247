#pragma once
// Random well-typed programs as the generator means them: terms of a known type, with their text, so that
// what inference finds can be compared with what was meant. It shares nothing with the frontend.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace quern::random_programs {

/// A variable whose name begins with this cannot be written: a dim is `?` in the text, a type `_`.
inline constexpr char kUnwritten = '?';
inline bool is_unwritten(const std::string& variable) { return variable.starts_with(kUnwritten); }

/// An extent: a constant, or a dimension variable of the enclosing definition.
struct Extent {
  int64_t constant = 0;
  std::string variable;  ///< empty for a constant
  friend bool operator==(const Extent&, const Extent&) = default;
};

struct TypeTerm;
using TypePtr = std::shared_ptr<const TypeTerm>;

struct TypeTerm {
  enum class Kind {
    Tensor,
    Tuple,
    Function,
    Data,
    Ref,
    Variable,
    Element,  ///< inside of an index expression: a scalar of a dtype
    Index     ///< there, an index
  };
  Kind kind = Kind::Tensor;
  std::vector<Extent> dims;
  std::string dtype;          ///< of a variable: kNumeric, or empty for any type
  std::vector<TypePtr> args;  ///< a function's: parameters, then the result
  std::string name;           ///< of a data type or a variable
};

TypePtr tensor(std::vector<Extent> dims, std::string dtype);
TypePtr tuple(std::vector<TypePtr> fields);
TypePtr function(std::vector<TypePtr> params, TypePtr result);
TypePtr data(std::string name);
TypePtr ref(TypePtr content);
/// Whether some of its extents are written `?`. What a reference holds is the same type everywhere: one with
/// such an extent would need an annotation wherever it is made.
bool has_unwritten(const TypePtr& type);
/// Stands for any type, or for any tensor of numbers.
TypePtr type_variable(std::string name, bool numeric = false);
inline constexpr const char* kNumeric = "number";
/// As Quern prints it: rank-0 tensors by their dtype, `(2,)`.
std::string to_string(const TypeTerm& type);
std::string to_string(const Extent& extent);
bool same(const TypePtr& a, const TypePtr& b);

/// Bounds on a term's numbers that keep float32 arithmetic exact: every element is a multiple of 2^-fraction
/// and at most `magnitude` in size, with magnitude * 2^fraction <= 2^22.
struct Exactness {
  double magnitude = 8;
  int fraction = 2;
  bool within(const Exactness& wanted) const {
    return magnitude <= wanted.magnitude && fraction <= wanted.fraction;
  }
};

/// Part of a term's text that may be left out: the annotation between these two marks.
inline constexpr char kNoteBegin = '\x01';
inline constexpr char kNoteEnd = '\x02';
inline std::string note(const std::string& text) { return kNoteBegin + text + kNoteEnd; }
/// The type as an annotation after `mark`; nothing where it holds a function or a reference with an extent
/// that cannot be written: in these `?` is not the extent that the place knows.
std::string note(const std::string& mark, const TypePtr& type);

struct Term;
using TermPtr = std::shared_ptr<const Term>;

/// A term: its text is parts[0] children[0] parts[1] … parts[n].
struct Term {
  enum class Tag { Plain, Variable, Literal, Let, Call, Construct, Match };
  Tag tag = Tag::Plain;
  TypePtr type;
  std::vector<std::string> parts;
  std::vector<TermPtr> children;
  std::vector<std::string> binds;  ///< variables visible in the children
  std::vector<std::string> uses;   ///< variables and definitions that the parts name
  TypePtr annotated;               ///< a Let's annotation
  int arguments = 0;               ///< a Call's and a Construct's: its last children
  bool general = false;            ///< a Call's: of a function with a general type
};

struct DefTerm {
  std::string name;                        ///< without @
  std::vector<std::string> dim_variables;  ///< these, and those of types, may be unwritten
  std::vector<TypePtr> type_variables;
  std::vector<std::pair<std::string, TypePtr>> params;
  TypePtr result;
  TermPtr body;
};
/// `[n, a]`, or nothing where none is written.
std::string written_variables(const DefTerm& def);
struct DataTerm {
  struct Constructor {
    std::string name;
    std::vector<TypePtr> fields;
    std::vector<std::string> names = {};  ///< of the fields of a record
  };
  std::string name;
  std::vector<Constructor> constructors;
};
struct StatementTerm {
  std::string variable;
  TermPtr value;
  bool general = false;  ///< a function whose type has variables
};

/// An operator with clauses.
struct OpTerm {
  std::string name, text;
};

struct ProgramTerm {
  std::vector<OpTerm> ops;
  std::vector<DataTerm> data;
  std::vector<DefTerm> defs;
  std::vector<StatementTerm> statements;
  bool may_fail = false;  ///< a data-dependent index may be outside of its tensor
};

struct TextRange {
  size_t begin = 0, end = 0;
};

/// How a program is written down.
struct Writing {
  /// Which optional annotations are left out: bit (k mod 64) of `omit` for the k-th one.
  uint64_t omit = 0;
};

struct WrittenProgram {
  std::string text;
  std::unordered_map<const Term*, TextRange> ranges;  ///< of the terms (the first place of a shared one)
  std::unordered_map<std::string, TextRange> defs;    ///< by name
};
WrittenProgram write(const ProgramTerm& program, const Writing& writing = {});

/// Names that occur free in a term.
std::set<std::string> free_names(const TermPtr& term);
size_t size(const TermPtr& term);
size_t size(const ProgramTerm& program);

}  // namespace quern::random_programs
