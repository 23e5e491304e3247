#pragma once
// libzip's C interface, loaded with the first `.npz`: it depends on libcrypto, which takes longer to load
// than the rest of the program.

#include <zip.h>

#include "ir/base/result.h"

namespace quern {

/// The functions in use, under their own names.
struct Libzip {
  decltype(&::zip_close) zip_close = nullptr;
  decltype(&::zip_discard) zip_discard = nullptr;
  decltype(&::zip_error_fini) zip_error_fini = nullptr;
  decltype(&::zip_error_init_with_code) zip_error_init_with_code = nullptr;
  decltype(&::zip_error_strerror) zip_error_strerror = nullptr;
  decltype(&::zip_fclose) zip_fclose = nullptr;
  decltype(&::zip_fdopen) zip_fdopen = nullptr;
  decltype(&::zip_file_add) zip_file_add = nullptr;
  decltype(&::zip_file_set_dostime) zip_file_set_dostime = nullptr;
  decltype(&::zip_fopen_index) zip_fopen_index = nullptr;
  decltype(&::zip_fread) zip_fread = nullptr;
  decltype(&::zip_get_num_entries) zip_get_num_entries = nullptr;
  decltype(&::zip_open) zip_open = nullptr;
  decltype(&::zip_set_file_compression) zip_set_file_compression = nullptr;
  decltype(&::zip_source_buffer_fragment) zip_source_buffer_fragment = nullptr;
  decltype(&::zip_source_free) zip_source_free = nullptr;
  decltype(&::zip_stat_index) zip_stat_index = nullptr;
  decltype(&::zip_stat_init) zip_stat_init = nullptr;
  decltype(&::zip_strerror) zip_strerror = nullptr;
};

/// Loaded once per process and never closed. Fails if the library is not installed.
Result<const Libzip*> libzip();

}  // namespace quern
