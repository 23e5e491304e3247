// The printer's steps, and the building blocks of its texts.

#include <algorithm>

#include "frontend/print/printer_impl.h"

namespace quern::printer_detail {

void Printer::print_queued() {
  std::reverse(steps_.begin(), steps_.end());
  while (!steps_.empty()) {
    Step step = std::move(steps_.back());
    steps_.pop_back();
    size_t others = steps_.size();
    perform(step);
    std::reverse(steps_.begin() + static_cast<ptrdiff_t>(others), steps_.end());
  }
}

void Printer::perform(const Step& step) {
  switch (step.kind) {
    case Step::Kind::Text: layout_.text(step.text); break;
    case Step::Kind::Line: layout_.line(step.text); break;
    case Step::Kind::HardLine: layout_.hard_line(); break;
    case Step::Kind::Open: layout_.open(); break;
    case Step::Kind::Close: layout_.close(); break;
    case Step::Kind::Indent: layout_.indent(); break;
    case Step::Kind::Dedent: layout_.dedent(); break;
    case Step::Kind::Run: step.run(); break;
    case Step::Kind::At:
    case Step::Kind::Item: {
      if (step.expr) note(step.expr->origin);
      size_t begin = steps_.size();
      Level level = node(step.expr);
      bool ambiguous = step.kind == Step::Kind::Item && level > Level::Open && level < Level::Sum;
      if (!ambiguous && level >= step.level) break;
      steps_.insert(steps_.begin() + static_cast<ptrdiff_t>(begin), Step{Step::Kind::Text, {}, {}, "("});
      text(")");
      break;
    }
  }
}

void Printer::note(const Origin& origin) {
  if (!origins_) return;
  noted_places_.push_back(layout_.hole());
  noted_.push_back(origin);
}

std::string Printer::rendered() {
  if (!origins_) return layout_.render(options_.width);
  std::vector<uint32_t> lines;
  std::string text = layout_.render(options_.width, noted_places_, lines);
  for (size_t i = 0; i < lines.size(); ++i) origins_->push_back({lines[i], lines[i], noted_[i]});
  return text;
}

void Printer::list(std::string opening, size_t count, const std::function<void(size_t)>& print_item,
                   std::string closing) {
  if (count == 0) return text(opening + closing);
  open();
  text(std::move(opening));
  indent();
  for (size_t i = 0; i < count; ++i) {
    line(i == 0 ? "" : " ");
    print_item(i);
    if (i + 1 < count) text(",");
  }
  dedent();
  line("");
  text(std::move(closing));
  close();
}

void Printer::list(std::string opening, std::span<const ExprPtr> items, std::string closing) {
  list(
      std::move(opening), items.size(), [&](size_t i) { item(items[i]); }, std::move(closing));
}

void Printer::bracketed(std::string_view words) {
  size_t begin = 0;
  auto flush = [&](size_t end) {
    if (end > begin) text(std::string(words.substr(begin, end - begin)));
    begin = end;
  };
  for (size_t i = 0; i < words.size(); ++i) {
    char c = words[i];
    bool empty = i + 1 < words.size() && (words[i + 1] == ')' || words[i + 1] == ']');
    if (c == '"') {
      while (++i < words.size() && words[i] != '"') i += words[i] == '\\' ? 1 : 0;
    } else if ((c == '(' || c == '[') && empty) {
      ++i;
    } else if (c == '(' || c == '[') {
      flush(i);
      open();
      flush(i + 1);
      indent();
      line("");
    } else if (c == ')' || c == ']') {
      flush(i);
      dedent();
      line("");
      flush(i + 1);
      close();
    } else if (c == ',' && i + 1 < words.size() && words[i + 1] == ' ') {
      flush(i + 1);
      line();
      begin = ++i + 1;
    }
  }
  flush(words.size());
}

}  // namespace quern::printer_detail
