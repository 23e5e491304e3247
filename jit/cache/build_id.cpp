#include "jit/cache/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace quern {

namespace {

constexpr size_t padded(size_t size) { return (size + 3) / 4 * 4; }

/// The build id among the notes of a segment: each is a header, a name and a description.
std::string build_id_in(const std::byte* notes, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    const size_t name = sizeof note, description = name + padded(note.n_namesz);
    const size_t end = description + padded(note.n_descsz);
    if (end > size) return {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
        std::memcmp(notes + name, "GNU", sizeof "GNU") == 0) {
      std::string id;
      for (size_t i = 0; i < note.n_descsz; ++i) {
        static constexpr char kDigits[] = "0123456789abcdef";
        const auto byte = std::to_integer<unsigned>(notes[description + i]);
        id += {kDigits[byte >> 4], kDigits[byte & 15]};
      }
      return id;
    }
    notes += end;
    size -= end;
  }
  return {};
}

/// The first object is the program itself.
int find_in_program(dl_phdr_info* object, size_t, void* found) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const std::byte*>(object->dlpi_addr + segment.p_vaddr);
    std::string id = build_id_in(notes, segment.p_memsz);
    if (!id.empty()) *static_cast<std::string*>(found) = id;
  }
  return 1;
}

}  // namespace

const std::string& build_id() {
  static const std::string id = [] {
    std::string found;
    dl_iterate_phdr(find_in_program, &found);
    return found;
  }();
  return id;
}

}  // namespace quern
