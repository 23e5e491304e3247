#include "ir/io/libzip.h"

#include "ir/base/shared_library.h"

namespace quern {

namespace {

Result<const Libzip*> open_library() {
  SharedLibrary library("libzip.so.4");
  static Libzip all;
  library.find("zip_close", all.zip_close);
  library.find("zip_discard", all.zip_discard);
  library.find("zip_error_fini", all.zip_error_fini);
  library.find("zip_error_init_with_code", all.zip_error_init_with_code);
  library.find("zip_error_strerror", all.zip_error_strerror);
  library.find("zip_fclose", all.zip_fclose);
  library.find("zip_fdopen", all.zip_fdopen);
  library.find("zip_file_add", all.zip_file_add);
  library.find("zip_file_set_dostime", all.zip_file_set_dostime);
  library.find("zip_fopen_index", all.zip_fopen_index);
  library.find("zip_fread", all.zip_fread);
  library.find("zip_get_num_entries", all.zip_get_num_entries);
  library.find("zip_open", all.zip_open);
  library.find("zip_set_file_compression", all.zip_set_file_compression);
  library.find("zip_source_buffer_fragment", all.zip_source_buffer_fragment);
  library.find("zip_source_free", all.zip_source_free);
  library.find("zip_stat_index", all.zip_stat_index);
  library.find("zip_stat_init", all.zip_stat_init);
  library.find("zip_strerror", all.zip_strerror);
  const Result<Done> done = library.done("libzip", "libzip4");
  if (!done) return done.error();
  return &all;
}

}  // namespace

Result<const Libzip*> libzip() {
  // Never destroyed: archives that are kept until the process ends are discarded after this would be.
  static const Result<const Libzip*>& opened = *new Result<const Libzip*>(open_library());
  return opened;
}

}  // namespace quern
