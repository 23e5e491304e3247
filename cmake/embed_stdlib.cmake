# cmake -DLIST=<file of paths> -DROOT=<folder> -DOUTPUT=<file> -P embed_stdlib.cmake
# Writes a C++ file that holds the text of each listed file, named by its path below ROOT.

file(STRINGS "${LIST}" files)
set(delimiter "quern_stdlib")
set(entries "")
set(count 0)
foreach(file IN LISTS files)
  file(READ "${file}" text)
  if(text MATCHES "\\)${delimiter}\"")
    message(FATAL_ERROR "${file} holds the delimiter that embedding uses")
  endif()
  file(RELATIVE_PATH name "${ROOT}" "${file}")
  string(APPEND entries "    EmbeddedFile{\"${name}\", R\"${delimiter}(${text})${delimiter}\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUTPUT}"
"#include \"session/stdlib.h\"

#include <array>

namespace quern {

namespace {
const std::array<EmbeddedFile, ${count}> kFiles{{
${entries}}};
}  // namespace

std::span<const EmbeddedFile> embedded_stdlib() { return kFiles; }

}  // namespace quern
")
