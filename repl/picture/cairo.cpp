#include "repl/picture/cairo.h"

#include "ir/base/shared_library.h"

namespace quern::picture {

namespace {

Result<const Cairo*> open_cairo() {
  SharedLibrary library("libcairo.so.2");
  static Cairo all;
  library.find("cairo_close_path", all.cairo_close_path);
  library.find("cairo_create", all.cairo_create);
  library.find("cairo_destroy", all.cairo_destroy);
  library.find("cairo_fill", all.cairo_fill);
  library.find("cairo_image_surface_create_for_data", all.cairo_image_surface_create_for_data);
  library.find("cairo_line_to", all.cairo_line_to);
  library.find("cairo_move_to", all.cairo_move_to);
  library.find("cairo_paint", all.cairo_paint);
  library.find("cairo_scale", all.cairo_scale);
  library.find("cairo_select_font_face", all.cairo_select_font_face);
  library.find("cairo_set_dash", all.cairo_set_dash);
  library.find("cairo_set_font_size", all.cairo_set_font_size);
  library.find("cairo_set_line_join", all.cairo_set_line_join);
  library.find("cairo_set_line_width", all.cairo_set_line_width);
  library.find("cairo_set_source_rgb", all.cairo_set_source_rgb);
  library.find("cairo_show_text", all.cairo_show_text);
  library.find("cairo_stroke", all.cairo_stroke);
  library.find("cairo_surface_destroy", all.cairo_surface_destroy);
  library.find("cairo_surface_write_to_png_stream", all.cairo_surface_write_to_png_stream);
  library.find("cairo_text_extents", all.cairo_text_extents);
  const Result<Done> done = library.done("Cairo", "libcairo2");
  if (!done) return done.error();
  return &all;
}

}  // namespace

Result<const Cairo*> cairo() {
  static const Result<const Cairo*> opened = open_cairo();
  return opened;
}

}  // namespace quern::picture
