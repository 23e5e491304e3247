#pragma once
// What gzip compressed (RFC 1952), by zlib.

#include <memory>

#include "ir/io/data_formats.h"

namespace quern::data_detail {

/// The bytes that are compressed in the rest of `file`, which outlives the source. Their number is known once they are
/// read: what remains is how many there can be at most.
std::unique_ptr<ByteSource> gunzipped(FileSource& file);

}  // namespace quern::data_detail
