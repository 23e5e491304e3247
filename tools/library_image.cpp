// quern_image OUTPUT FILE...: writes a C++ file with the function of session/texts/embedded.h that returns the images of
// the files' texts (frontend/image/text_image.h), in their order.

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "frontend/image/text_image.h"

int main(int count, char** arguments) {
  std::string entries;
  for (int i = 2; i < count; ++i) {
    std::ifstream in(arguments[i], std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    const auto image = quern::image_of(text.str());
    if (!image) {
      fmt::print(stderr, "{}: `quern check` tells what is wrong in it\n", arguments[i]);
      return 1;
    }
    entries += "    std::string_view(\"";
    for (size_t k = 0; k < image->size(); ++k) {
      // Octal escapes end after three digits, whatever follows. A line is no longer than tools like.
      if (k % 32 == 31) entries += "\"\n                     \"";
      entries += fmt::format("\\{:03o}", static_cast<unsigned char>((*image)[k]));
    }
    entries += fmt::format("\", {}),\n", image->size());
  }
  std::ofstream out(arguments[1], std::ios::binary);
  out << fmt::format(
      "#include \"session/texts/embedded.h\"\n\n#include <array>\n\nnamespace quern {{\n\nnamespace {{\n"
      "const std::array<std::string_view, {}> images{{{{\n{}}}}};\n}}  // namespace\n\n"
      "std::span<const std::string_view> embedded_images() {{ return images; }}\n\n}}  // namespace quern\n",
      count - 2, entries);
  return out.flush() ? 0 : 1;
}
