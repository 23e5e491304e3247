// The printer's names: entities in scope have distinct names that the grammar can read.

#include <algorithm>
#include <cctype>

#include "frontend/print/printer_impl.h"
#include "frontend/text/lexeme.h"
#include "ir/type/named.h"
#include "ir/type/type.h"

namespace quern::printer_detail {

namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

/// The name with invalid characters replaced; `fallback` if it is empty.
std::string identifier(std::string_view name, std::string_view fallback) {
  if (name.empty() || name == "_") return std::string(fallback);
  std::string out(name);
  for (char& c : out)
    if (!std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80) c = '_';
  if (std::isdigit(static_cast<unsigned char>(out.front()))) out.insert(0, fallback);
  return out;
}

/// A name without a sigil must not be a word of the grammar.
std::string bare_identifier(std::string_view name, std::string_view fallback) {
  static constexpr std::string_view kWords[] = {
      "def", "let",  "free_var", "fn",   "if",     "else", "match", "for",    "and",    "or",
      "not", "True", "False",    "None", "Tensor", "inf",  "nan",   "import", "extern", "type"};
  std::string out = identifier(name, fallback);
  return std::ranges::find(kWords, out) == std::end(kWords) ? out : out + "_";
}

constexpr uint64_t kSpelledData = UINT64_MAX;
/// Of a name that is counted on from.
constexpr size_t kMostDigits = 9;

}  // namespace

bool is_numbered(const Variable& variable) { return variable.graph && is_digits(variable.name); }

const std::string& NameTable::bind(const void* key, const std::string& wanted) {
  auto [entry, added] = entries_.try_emplace(key, Entry{wanted, wanted, 0});
  if (!added) return entry->second.name;
  std::string name = wanted;
  if (taken_.contains(name)) {
    uint32_t& suffix = next_suffix_.try_emplace(wanted, 1).first->second;
    auto candidate = [&](uint32_t k) {
      if (!is_digits(wanted)) return wanted + "_" + std::to_string(k);
      // Of more digits than a number has, further ones make a name.
      return wanted.size() > kMostDigits ? wanted + std::to_string(k)
                                         : std::to_string(std::stoull(wanted) + k);
    };
    while (taken_.contains(name = candidate(suffix))) ++suffix;
    entry->second.suffix = suffix++;
  }
  taken_.emplace(name, key);
  entry->second.name = std::move(name);
  return entry->second.name;
}

const std::string* NameTable::find(const void* key) const {
  auto entry = entries_.find(key);
  return entry == entries_.end() ? nullptr : &entry->second.name;
}

void NameTable::release(const void* key) {
  auto entry = entries_.find(key);
  if (entry == entries_.end()) return;
  const Entry& e = entry->second;
  if (e.suffix > 0) next_suffix_[e.wanted] = std::min(next_suffix_[e.wanted], e.suffix);
  taken_.erase(e.name);
  entries_.erase(entry);
}

std::string Names::wanted(const Variable& variable) const {
  if (other_names_)
    if (auto other = other_names_->find(&variable); other != other_names_->end()) return other->second;
  bool readable =
      is_numbered(variable) || (slash_names_ && local_name_size(variable.name, true) == variable.name.size());
  return readable && variable.name != "_" ? std::string(variable.name) : identifier(variable.name, "v");
}

void Names::bind(Dim var) { bare_.bind(var, bare_identifier(var->name, "i")); }
void Names::bind_type(Type var) { bare_.bind(var, bare_identifier(var->name, "t")); }

const std::string& Names::of(const Variable* variable) {
  bind(variable);
  return *locals_.find(variable);
}
const std::string& Names::of(Dim var) {
  static const std::string kLeftOut = "_";
  if (is_left_out(var)) return kLeftOut;
  if (const auto text = spelled_.find(var); text != spelled_.end() && !text->second.empty())
    return text->second;
  bind(var);
  return *bare_.find(var);
}
const std::string& Names::of_type(Type var) {
  bind_type(var);
  return *bare_.find(var);
}

bool Names::is_computed(Dim dim) const {
  bool found = false;
  for_each_var(dim, [&](Dim var) { found = found || spelled_.contains(var); });
  return found;
}

Dim Names::renamed(Dim dim) {
  DimMap others;
  for_each_var(dim, [&](Dim var) {
    if (const std::string& name = of(var); name != var->name) others.emplace(var, named_dim(name));
  });
  return substitute(dim, others);
}

Type Names::renamed(Type type) {
  Substitution others;
  for_each_dim_var(type, [&](Dim var) {
    if (const std::string& name = of(var); name != var->name) others.dims.emplace(var, named_dim(name));
  });
  auto visit = [&](auto&& self, Type t) -> void {
    if (t->kind == TypeKind::Var)
      if (const std::string& name = of_type(t); name != t->name) others.types.emplace(t, named_type(name));
    for (Type arg : t->args) self(self, arg);
  };
  visit(visit, type);
  return qualified(substitute(type, others));
}

/// The type with data type names as the file spells them.
Type Names::qualified(Type type) const {
  if (!spelling_ || type->args.empty() == (type->kind != TypeKind::Data)) return type;
  std::vector<Type> args;
  for (Type arg : type->args) args.push_back(qualified(arg));
  if (type->kind != TypeKind::Data) return with_args(type, args);
  std::string prefix = spelling_->qualifier(type).value_or("");
  // For texts only; never compared.
  return prefix.empty() ? with_args(type, args)
                        : data_type(prefix + std::string(type->name), kSpelledData, args);
}

bool Names::can_spell(Type type) const {
  if (!spelling_) return true;
  return (type->kind != TypeKind::Data || spelling_->qualifier(type)) &&
         std::ranges::all_of(type->args, [this](Type arg) { return can_spell(arg); });
}

}  // namespace quern::printer_detail
