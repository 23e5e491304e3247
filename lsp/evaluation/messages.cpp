#include "lsp/evaluation/messages.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace quern::lsp {

namespace {

using ide::EvaluatedPart;
using ide::Evaluation;
using ide::EvaluationProblem;
using ide::EvaluationRequest;
using ide::IrDocument;
using ide::IrRequest;
using ide::Lines;
using ide::MappedLines;
using ide::ValueSummary;
using nlohmann::json;

std::string line_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

json to_json(Range range) { return json::array({range.begin, range.end}); }
Range range_from(const json& value) { return {value.at(0).get<uint32_t>(), value.at(1).get<uint32_t>()}; }

// JSON has no NaN: it is null.
double number_from(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

json to_json(const ValueSummary& summary) {
  json value = {{"type", summary.type}, {"text", summary.text}};
  if (const auto& of = summary.numbers)
    value["numbers"] = {{"nans", of->nans}, {"infinities", of->infinities}, {"least", of->least},
                        {"mean", of->mean}, {"greatest", of->greatest},     {"sparkline", of->sparkline}};
  return value;
}
ValueSummary summary_from(const json& value) {
  ValueSummary summary{value.at("type"), value.at("text"), std::nullopt};
  if (!value.contains("numbers")) return summary;
  const json& of = value.at("numbers");
  summary.numbers = {of.at("nans"),
                     of.at("infinities"),
                     number_from(of.at("least")),
                     number_from(of.at("mean")),
                     number_from(of.at("greatest")),
                     of.at("sparkline")};
  return summary;
}

json to_json(const EvaluationProblem& problem) {
  return {{"code", problem.code},
          {"file", problem.file},
          {"range", to_json(problem.range)},
          {"message", problem.message}};
}
EvaluationProblem problem_from(const json& value) {
  return {value.at("code"), value.at("file"), range_from(value.at("range")), value.at("message")};
}

json to_json(const EvaluatedPart& part) {
  json value = {{"range", to_json(part.range)}, {"name", part.name}, {"test", part.is_test}};
  if (!part.note.empty()) value["note"] = part.note;
  if (part.value) value["value"] = to_json(*part.value);
  if (part.failure) value["failure"] = to_json(*part.failure);
  if (part.rewrite)
    value["rewrite"] = {{"range", to_json(part.rewrite->range)}, {"text", part.rewrite->text}};
  return value;
}
EvaluatedPart part_from(const json& value) {
  EvaluatedPart part{range_from(value.at("range")), value.at("name"), value.at("test").get<bool>()};
  part.note = value.value("note", "");
  if (value.contains("value")) part.value = summary_from(value.at("value"));
  if (value.contains("failure")) part.failure = problem_from(value.at("failure"));
  if (value.contains("rewrite")) {
    const json& of = value.at("rewrite");
    part.rewrite = ide::Replacement{range_from(of.at("range")), of.at("text")};
  }
  return part;
}

json to_json(const EvaluationRequest& request) {
  json value = {{"path", request.path}, {"texts", request.texts}};
  if (auto* statements = std::get_if<EvaluationRequest::Statements>(&request.what)) {
    json before = json::array();
    for (const Range& range : statements->before) before.push_back(to_json(range));
    value["statements"] = {
        {"offset", statements->offset}, {"range", to_json(statements->range)}, {"before", before}};
  } else if (auto* tests = std::get_if<EvaluationRequest::Tests>(&request.what)) {
    value["tests"] = tests->name;
  } else if (auto* timing = std::get_if<EvaluationRequest::Timing>(&request.what)) {
    value["timing"] = timing->function;
  } else if (std::holds_alternative<EvaluationRequest::Machine>(request.what)) {
    value["machine"] = true;
  } else if (std::holds_alternative<EvaluationRequest::Inputs>(request.what)) {
    value["inputs"] = true;
  }
  return value;
}
EvaluationRequest request_from(const json& value) {
  EvaluationRequest request{value.at("path"), value.at("texts"), EvaluationRequest::Program{}};
  if (value.contains("statements")) {
    const json& of = value.at("statements");
    EvaluationRequest::Statements statements{of.at("offset"), range_from(of.at("range")), {}};
    for (const json& range : of.at("before")) statements.before.push_back(range_from(range));
    request.what = std::move(statements);
  } else if (value.contains("tests")) {
    request.what = EvaluationRequest::Tests{value.at("tests")};
  } else if (value.contains("timing")) {
    request.what = EvaluationRequest::Timing{value.at("timing")};
  } else if (value.contains("machine")) {
    request.what = EvaluationRequest::Machine{};
  } else if (value.contains("inputs")) {
    request.what = EvaluationRequest::Inputs{};
  }
  return request;
}

json to_json(const IrRequest& request) {
  return {{"path", request.path},
          {"texts", request.texts},
          {"function", request.function},
          {"stage", request.stage}};
}
IrRequest ir_request_from(const json& value) {
  return {value.at("path"), value.at("texts"), value.at("function"), value.at("stage")};
}

json to_json(const MappedLines& lines) {
  json numbers = json::array({lines.shown.first, lines.shown.last});
  for (const Lines& from : lines.source) {
    numbers.push_back(from.first);
    numbers.push_back(from.last);
  }
  return numbers;
}
MappedLines lines_from(const json& numbers) {
  MappedLines lines{{numbers.at(0), numbers.at(1)}, {}};
  for (size_t i = 2; i < numbers.size(); i += 2) lines.source.push_back({numbers.at(i), numbers.at(i + 1)});
  return lines;
}

/// Parses a text as JSON and decodes it; fails if either is impossible.
template <class T, class Decode>
Result<T> decoded(std::string_view text, const Decode& decode) {
  try {
    return decode(json::parse(text));
  } catch (const json::exception& error) {
    return Failure{error.what()};
  }
}

}  // namespace

std::string encode(const EvaluationOrder& order) {
  json value = std::visit([](const auto& asked) { return to_json(asked); }, order.asked);
  value["memory"] = order.memory;
  return line_of(value);
}

std::string encode(const PrintedLine& line) { return line_of({{"print", line.text}}); }

std::string encode(const Evaluation& evaluation) {
  json parts = json::array(), problems = json::array();
  for (const EvaluatedPart& part : evaluation.parts) parts.push_back(to_json(part));
  for (const EvaluationProblem& problem : evaluation.problems) problems.push_back(to_json(problem));
  json value = {{"parts", parts}, {"problems", problems}};
  if (const auto& peaks = evaluation.peaks)
    value["peaks"] = {
        {"gflops", peaks->gflops}, {"bandwidth", peaks->bandwidth}, {"threads", peaks->threads}};
  return line_of(value);
}

std::string encode(const Result<IrDocument>& made) {
  if (!made) return line_of({{"failure", made.error().message}});
  json map = json::array();
  for (const MappedLines& lines : made->map) map.push_back(to_json(lines));
  return line_of({{"text", made->text}, {"map", std::move(map)}});
}

Result<EvaluationOrder> decode_order(std::string_view text) {
  return decoded<EvaluationOrder>(text, [](const json& value) {
    EvaluationOrder order{request_from(value), value.value("memory", size_t{0})};
    if (value.contains("stage")) order.asked = ir_request_from(value);
    return order;
  });
}

Result<std::variant<PrintedLine, Evaluation>> decode_line(std::string_view text) {
  using Line = std::variant<PrintedLine, Evaluation>;
  return decoded<Line>(text, [](const json& value) -> Line {
    if (value.contains("print")) return PrintedLine{value.at("print")};
    Evaluation evaluation;
    for (const json& part : value.at("parts")) evaluation.parts.push_back(part_from(part));
    for (const json& problem : value.at("problems")) evaluation.problems.push_back(problem_from(problem));
    if (value.contains("peaks")) {
      const json& peaks = value.at("peaks");
      evaluation.peaks = {peaks.at("gflops"), peaks.at("bandwidth"), peaks.at("threads")};
    }
    return evaluation;
  });
}

Result<IrDocument> decode_ir(std::string_view text) {
  auto made = decoded<Result<IrDocument>>(text, [](const json& value) -> Result<IrDocument> {
    if (value.contains("failure")) return Failure{value.at("failure")};
    IrDocument document{value.at("text"), {}};
    for (const json& numbers : value.at("map")) document.map.push_back(lines_from(numbers));
    return document;
  });
  return made ? std::move(*made) : Result<IrDocument>(made.error());
}

}  // namespace quern::lsp
