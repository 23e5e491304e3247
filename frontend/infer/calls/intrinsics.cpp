#include "frontend/infer/calls/intrinsics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "ir/io/data_files.h"
#include "ir/value/value_style.h"

namespace quern {

/// The output of `print`, or the name of a file: labels, and values with their formats.
struct Intrinsics::Printed {
  std::vector<DraftPtr> values;    ///< null for a label
  std::vector<std::string> texts;  ///< as in IntrinsicKind::Print

  void label(std::string_view text) {
    if (values.empty() || values.back()) {
      values.push_back(nullptr);
      texts.emplace_back();
    }
    texts.back() += text;
  }
  void value(DraftPtr value, std::string text = "") {
    values.push_back(value);
    texts.push_back(std::move(text));
  }
};

bool Intrinsics::refuses_attribute(SyntaxPtr s, SyntaxPtr argument) {
  if (!argument->is(SyntaxKind::NamedArgument)) return false;
  report(DiagnosticKind::UnknownAttribute, argument,
         fmt::format("`{}` has no attributes", s->child(0)->text));
  return true;
}

/// The last words of a file's name.
static std::string_view end_of_name(SyntaxPtr name) {
  if (name->is(SyntaxKind::String)) return name->text;
  const bool has_parts = name->is(SyntaxKind::FormatString) && !name->children.empty();
  return has_parts && name->children.back()->is(SyntaxKind::String) ? name->children.back()->text : "";
}

DraftPtr Intrinsics::print(SyntaxPtr s) {
  Printed printed;
  if (!add(printed, s, s->children.subspan(1))) return error(s, unit_type());
  return finished(s, IntrinsicKind::Print, printed, unit_type());
}

DraftPtr Intrinsics::progress(SyntaxPtr s) {
  if (s->children.size() < 3) {
    report(DiagnosticKind::WrongArgumentCount, s,
           "`progress` takes how many steps are done, how many there are, and what is shown before them");
    return error(s, unit_type());
  }
  Printed printed;
  for (SyntaxPtr count : s->children.subspan(1, 2)) {
    if (refuses_attribute(s, count)) return error(s, unit_type());
    printed.value(infer(count, scalar_type(DType::int32())));
    assignments_.expect(count, scalar_type(DType::int32()), printed.values.back()->type, "a number of steps");
  }
  if (!add(printed, s, s->children.subspan(3))) return error(s, unit_type());
  return finished(s, IntrinsicKind::Progress, printed, unit_type());
}

std::span<const std::string_view> Intrinsics::copied(const std::vector<std::string>& texts) {
  std::vector<std::string_view> copies;
  copies.reserve(texts.size());
  for (const std::string& text : texts) copies.push_back(drafts_.copy(std::string_view(text)));
  return drafts_.copy(copies);
}

DraftPtr Intrinsics::finished(SyntaxPtr s, IntrinsicKind kind, const Printed& printed, Type type) {
  return drafts_.form(origin(s), type, IntrinsicExpr{.intrinsic = kind, .texts = copied(printed.texts)},
                      printed.values);
}

// Arguments are separated by a blank.
bool Intrinsics::add(Printed& printed, SyntaxPtr s, std::span<const SyntaxPtr> arguments) {
  for (SyntaxPtr argument : arguments) {
    if (refuses_attribute(s, argument)) return false;
    if (argument != arguments.front()) printed.label(" ");
    if (argument->is(SyntaxKind::String))
      printed.label(argument->text);
    else if (argument->is(SyntaxKind::FormatString))
      add(printed, argument);
    else
      printed.value(infer(argument));
  }
  return true;
}

void Intrinsics::add(Printed& printed, SyntaxPtr format_string) {
  for (SyntaxPtr part : format_string->children) {
    if (part->is(SyntaxKind::String)) {
      printed.label(part->text);
      continue;
    }
    DraftPtr value = infer(part->child(0));
    printed.value(value, fmt::format(":{}", part->text));
    if (is_of_floats(with_format({}, part->text).value_or(ValueStyle()))) expect_format(part, value);
  }
}

void Intrinsics::expect_format(SyntaxPtr formatted, DraftPtr value) {
  relations_.relate(formatted, value, "what is printed", [=, this] {
    Type type = resolve(value->type);
    if (type->kind == TypeKind::Infer) return false;
    const bool is_other = type->is_tensor() && (type->dtype.is_int() || type->dtype.is_bool());
    if (is_other)
      report(DiagnosticKind::FormatString, formatted,
             fmt::format(
                 "`{}` is a format of floats, and this is {}: leave it out, or write a width alone, as in "
                 "`{{%x:8}}`",
                 formatted->text, to_string(type)));
    return true;
  });
}

bool Intrinsics::add_file_name(Printed& printed, SyntaxPtr name) {
  if (name->is(SyntaxKind::String)) printed.label(name->text);
  if (!name->is(SyntaxKind::FormatString)) return name->is(SyntaxKind::String);
  add(printed, name);
  size_t next = 0;
  for (SyntaxPtr part : name->children) {
    if (part->is(SyntaxKind::String)) continue;
    while (!printed.values[next]) ++next;
    const DraftPtr value = printed.values[next++];
    relations_.relate(part, value, "a value in the name of a file", [=, this] {
      Type type = resolve(value->type);
      if (type->kind == TypeKind::Infer) return false;
      if (!type->is_error() && !type->is_scalar())
        report(DiagnosticKind::FormatString, part,
               fmt::format("the braces in the name of a file hold a single number, and this is {}",
                           unifier_.describe(type)));
      return true;
    });
  }
  return true;
}

bool Intrinsics::takes_tokens(SyntaxPtr s, std::span<const SyntaxPtr>& arguments, std::string_view& tokens) {
  while (!arguments.empty() && arguments.back()->is(SyntaxKind::NamedArgument)) {
    const SyntaxPtr argument = arguments.back(), value = argument->child(0);
    arguments = arguments.first(arguments.size() - 1);
    if (argument->text != "tokens") {
      report(DiagnosticKind::UnknownAttribute, argument,
             fmt::format("`{}` has no attribute `{}`; it has tokens", s->child(0)->text, argument->text));
      return false;
    }
    const bool is_of_text = !arguments.empty() && is_text_file(end_of_name(arguments[0]));
    if (!value->is(SyntaxKind::String) || value->text.empty() || !is_of_text || !tokens.empty()) {
      report(DiagnosticKind::WrongAttribute, argument,
             "`tokens` is the name of a vocabulary's file, as in `tokens=\"vocab.json\"`, for a `.txt`");
      return false;
    }
    tokens = value->text;
  }
  return std::ranges::none_of(arguments, [&](SyntaxPtr argument) { return refuses_attribute(s, argument); });
}

DraftPtr Intrinsics::load(SyntaxPtr s) {
  std::span<const SyntaxPtr> arguments = s->children.subspan(1);
  std::string_view tokens;
  if (!takes_tokens(s, arguments, tokens)) return error(s);
  const SyntaxPtr entry = arguments.size() == 2 ? arguments[1] : nullptr;
  if (entry && entry->is(SyntaxKind::FormatString)) {
    report(DiagnosticKind::FormatString, entry,
           "the name of an entry holds no values: a brace in it is written twice, `{{`");
    return error(s);
  }
  Printed printed;
  if (arguments.empty() || arguments.size() > 2 || (entry && !entry->is(SyntaxKind::String)) ||
      !add_file_name(printed, arguments[0])) {
    report(DiagnosticKind::WrongArgumentCount, s,
           "`load` takes a file name, and the name of one entry where the file has several");
    return error(s);
  }
  if (entry && is_text_file(end_of_name(arguments[0]))) {
    report(DiagnosticKind::WrongArgumentCount, entry,
           "a `.txt` has no entries: its bytes are the whole, or its tokens, `tokens=\"vocab.json\"`");
    return error(s);
  }
  printed.value(nullptr, std::string(entry ? entry->text : tokens));
  DraftPtr loaded = parts_.files.load(s, drafts_.copy(printed.values), copied(printed.texts));
  return tokens.empty() ? loaded : checks_.opened(loaded, loaded->type, "tokens");
}

DraftPtr Intrinsics::kept(SyntaxPtr s, IntrinsicKind kind, std::string_view usage) {
  std::span<const SyntaxPtr> arguments = s->children.subspan(1);
  std::string_view tokens;
  if (kind == IntrinsicKind::Save ? !takes_tokens(s, arguments, tokens)
                                  : std::ranges::any_of(arguments, [&](SyntaxPtr argument) {
                                      return refuses_attribute(s, argument);
                                    }))
    return error(s);
  Printed printed;
  if (arguments.size() != 2 || !add_file_name(printed, arguments[0])) {
    report(DiagnosticKind::WrongArgumentCount, s, std::string(usage));
    return error(s);
  }
  std::string path;
  for (size_t i = 0; i < printed.values.size(); ++i) path += printed.values[i] ? "{…}" : printed.texts[i];
  if (printed.values.back()) path.clear();
  DraftPtr value = infer(arguments[1]);
  printed.value(value, std::string(tokens));
  parts_.files.save(s, kind, drafts_.copy(std::string_view(path)), value, !tokens.empty());
  return finished(s, kind, printed, kind == IntrinsicKind::Restore ? value->type : unit_type());
}

template <>
DraftPtr Intrinsics::call<CalledWord::Clock>(SyntaxPtr s, Type) {
  if (s->children.size() > 1) {
    report(DiagnosticKind::WrongArgumentCount, s,
           "`clock()` takes no arguments: it gives the seconds since some point in time, so that the "
           "difference of two "
           "tells what stands between them took");
    return error(s);
  }
  return drafts_.form(origin(s), scalar_type(DType::float64()),
                      IntrinsicExpr{.intrinsic = IntrinsicKind::Clock}, {});
}

// `rtol=1e-3`; false after a diagnostic.
bool Intrinsics::add_tolerance(SyntaxPtr s, SyntaxPtr arg, bool close, double (&tolerances)[2]) {
  std::string_view name = s->child(0)->text;
  if (!close || (arg->text != "rtol" && arg->text != "atol")) {
    report(
        DiagnosticKind::UnknownAttribute, arg,
        fmt::format("`{}` has no attribute `{}`{}", name, arg->text, close ? "; it has rtol and atol" : ""));
    return false;
  }
  auto value = names_.evaluator().evaluate(arg->child(0), names_.env.statics);
  if (!value) return false;
  if (!value->as_float() && !value->as_int()) {
    report(
        DiagnosticKind::WrongAttribute, arg,
        fmt::format("the attribute `{}` of `{}` takes a number, not {}", arg->text, name, to_string(*value)));
    return false;
  }
  tolerances[arg->text == "atol"] =
      value->as_float() ? *value->as_float() : static_cast<double>(*value->as_int());
  return true;
}

DraftPtr Intrinsics::assertion(SyntaxPtr s, bool close) {
  std::vector<SyntaxPtr> values;
  double tolerances[] = {1e-5, 1e-6};
  for (SyntaxPtr arg : s->children.subspan(1)) {
    if (!arg->is(SyntaxKind::NamedArgument))
      values.push_back(arg);
    else if (!add_tolerance(s, arg, close, tolerances))
      return error(s, unit_type());
  }
  if (values.size() != 2) {
    report(DiagnosticKind::WrongArgumentCount, s,
           fmt::format("`{}` takes a value and what it has to be, and is given {} argument{}",
                       s->child(0)->text, values.size(), values.size() == 1 ? "" : "s"));
    return error(s, unit_type());
  }
  DraftPtr value = infer(values[0]), expected = infer(values[1]);
  std::vector<std::string_view> texts;
  if (close)
    for (double tolerance : tolerances)
      texts.push_back(drafts_.copy(std::string_view(fmt::format("{}", tolerance))));
  auto* draft = drafts_.make<AssertionDraft>(origin(s), unit_type(), value, expected, drafts_.copy(texts));
  relations_.relate(s, draft, "what is compared",
                    [=, this] { return attempt(values[0], values[1], *draft); });
  return draft;
}

bool Intrinsics::attempt(SyntaxPtr value, SyntaxPtr expected, const AssertionDraft& draft) {
  Type type = resolve(draft.value->type), other = resolve(draft.expected->type);
  if (type->kind == TypeKind::Infer || other->kind == TypeKind::Infer) return false;
  if (type->is_error() || other->is_error()) return true;
  if (type->kind == TypeKind::Function)
    report(DiagnosticKind::TypeMismatch, value,
           "functions cannot be compared: call them and compare the results");
  else
    assignments_.expect(expected, type, other, "what is expected", names_.origin_of(draft.value));
  return true;
}

std::optional<std::string_view> Intrinsics::device_name(SyntaxPtr argument) {
  constexpr int64_t kTvmCpu = 1;  // kDLCPU of DLPack
  const auto value = names_.evaluator().evaluate(argument, names_.env.statics);
  if (!value) return std::nullopt;
  if (value->is_none()) return "";
  if (const auto number = value->as_int())
    return drafts_.copy(std::string_view(*number == kTvmCpu ? "cpu" : fmt::format("device {}", *number)));
  if (const std::string* name = value->as_string()) return drafts_.copy(std::string_view(*name));
  report(DiagnosticKind::WrongAttribute, argument,
         fmt::format("a device is named by a string, `\"cpu\"`, or None, and this is {}", to_string(*value)));
  return std::nullopt;
}

template <>
DraftPtr Intrinsics::call<CalledWord::ToDevice>(SyntaxPtr s, Type wanted) {
  if (s->children.size() != 4) {
    report(
        DiagnosticKind::WrongArgumentCount, s,
        fmt::format(
            "`to_device` takes a value, the device that computes it and the one that uses it, and is given "
            "{} argument{}",
            s->children.size() - 1, s->children.size() == 2 ? "" : "s"));
    return error(s);
  }
  DraftPtr value = infer(s->child(1), wanted);
  const auto from = device_name(s->child(2)), to = device_name(s->child(3));
  if (!from || !to) return error(s);
  IntrinsicExpr node{.intrinsic = IntrinsicKind::ToDevice, .texts = drafts_.copy(std::vector{*from, *to})};
  return drafts_.form(origin(s), value->type, node, {value});
}

template <>
DraftPtr Intrinsics::call<CalledWord::Print>(SyntaxPtr s, Type) {
  return print(s);
}
template <>
DraftPtr Intrinsics::call<CalledWord::Load>(SyntaxPtr s, Type) {
  return load(s);
}
template <>
DraftPtr Intrinsics::call<CalledWord::Save>(SyntaxPtr s, Type) {
  return kept(s, IntrinsicKind::Save, "`save` takes a file name and a value");
}
template <>
DraftPtr Intrinsics::call<CalledWord::Restore>(SyntaxPtr s, Type) {
  return kept(s, IntrinsicKind::Restore,
              "`restore` takes a file name, and the value where there is no such file yet");
}
template <>
DraftPtr Intrinsics::call<CalledWord::NextKey>(SyntaxPtr s, Type) {
  const Type key = tensor_type(std::vector{dim_const(10)}, DType{DTypeCode::UInt, 64});
  if (s->children.size() > 1) {
    report(DiagnosticKind::WrongArgumentCount, s,
           "`next_key()` takes no arguments; `random.threefry_key(seed)` is the key of a seed");
    return error(s);
  }
  return drafts_.form(origin(s), key, IntrinsicExpr{.intrinsic = IntrinsicKind::NextKey}, {});
}
template <>
DraftPtr Intrinsics::call<CalledWord::Progress>(SyntaxPtr s, Type) {
  return progress(s);
}
template <>
DraftPtr Intrinsics::call<CalledWord::AssertClose>(SyntaxPtr s, Type) {
  return assertion(s, true);
}
template <>
DraftPtr Intrinsics::call<CalledWord::AssertEqual>(SyntaxPtr s, Type) {
  return assertion(s, false);
}

}  // namespace quern
