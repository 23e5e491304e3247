#pragma once
// Cairo's C interface, opened when the first picture needs it: loading it and its dependencies takes longer than the rest
// of the program.

#include <cairo.h>

#include "ir/base/result.h"

namespace quern::picture {

/// The functions that are used, under their own names.
struct Cairo {
  decltype(&::cairo_close_path) cairo_close_path = nullptr;
  decltype(&::cairo_create) cairo_create = nullptr;
  decltype(&::cairo_destroy) cairo_destroy = nullptr;
  decltype(&::cairo_fill) cairo_fill = nullptr;
  decltype(&::cairo_image_surface_create_for_data) cairo_image_surface_create_for_data = nullptr;
  decltype(&::cairo_line_to) cairo_line_to = nullptr;
  decltype(&::cairo_move_to) cairo_move_to = nullptr;
  decltype(&::cairo_paint) cairo_paint = nullptr;
  decltype(&::cairo_scale) cairo_scale = nullptr;
  decltype(&::cairo_select_font_face) cairo_select_font_face = nullptr;
  decltype(&::cairo_set_dash) cairo_set_dash = nullptr;
  decltype(&::cairo_set_font_size) cairo_set_font_size = nullptr;
  decltype(&::cairo_set_line_join) cairo_set_line_join = nullptr;
  decltype(&::cairo_set_line_width) cairo_set_line_width = nullptr;
  decltype(&::cairo_set_source_rgb) cairo_set_source_rgb = nullptr;
  decltype(&::cairo_show_text) cairo_show_text = nullptr;
  decltype(&::cairo_stroke) cairo_stroke = nullptr;
  decltype(&::cairo_surface_destroy) cairo_surface_destroy = nullptr;
  decltype(&::cairo_surface_write_to_png_stream) cairo_surface_write_to_png_stream = nullptr;
  decltype(&::cairo_text_extents) cairo_text_extents = nullptr;
};

/// Opens the library once per process and never closes it. Fails if it is not installed.
Result<const Cairo*> cairo();

}  // namespace quern::picture
