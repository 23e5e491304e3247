# cmake -DLIST=<file of paths> -DROOT=<folder> -DFUNCTION=<name> -DOUTPUT=<file> -P embed_files.cmake
# Writes a C++ file with the function of session/texts/embedded.h that returns the text of each listed file, named by its path
# below ROOT.

file(STRINGS "${LIST}" files)
set(delimiter "quern_embedded")
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
"#include \"session/texts/embedded.h\"

#include <array>

namespace quern {

namespace {
const std::array<EmbeddedFile, ${count}> ${FUNCTION}_files{{
${entries}}};
}  // namespace

std::span<const EmbeddedFile> ${FUNCTION}() { return ${FUNCTION}_files; }

}  // namespace quern
")
