#include "repl/picture/raster.h"

#include <array>
#include <memory>
#include <type_traits>

#include "repl/picture/cairo.h"

namespace quern::picture {

namespace {

using Surface = std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)>;
using Context = std::unique_ptr<cairo_t, void (*)(cairo_t*)>;

/// The pixels of a raster as Cairo draws them; they have to stay where they are.
Surface surface_of(const Cairo& library, const Raster& raster) {
  auto* bytes = reinterpret_cast<unsigned char*>(const_cast<uint32_t*>(raster.pixels.data()));
  return {library.cairo_image_surface_create_for_data(bytes, CAIRO_FORMAT_RGB24, raster.width, raster.height,
                                                      raster.width * static_cast<int>(sizeof(uint32_t))),
          library.cairo_surface_destroy};
}

/// Draws one shape after another.
class Brush {
 public:
  Brush(const Cairo& library, cairo_t* context, Paper paper)
      : library_(library), context_(context), paper_(paper) {
    library_.cairo_select_font_face(context_, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                                    CAIRO_FONT_WEIGHT_NORMAL);
    library_.cairo_set_font_size(context_, kFontSize);
    library_.cairo_set_line_join(context_, CAIRO_LINE_JOIN_ROUND);
  }

  void take(const Colours& colours) const {
    constexpr double kMost = 255;
    const uint32_t colour = paper_ == Paper::Light ? colours.on_light : colours.on_dark;
    library_.cairo_set_source_rgb(context_, (colour >> 16 & 0xff) / kMost, (colour >> 8 & 0xff) / kMost,
                                  (colour & 0xff) / kMost);
  }

  void operator()(const Stroke& stroke) const {
    take(colours_of(stroke.tint));
    follow(stroke.points);
    library_.cairo_set_line_width(context_, stroke.width);
    library_.cairo_set_dash(context_, stroke.dashes.data(), static_cast<int>(stroke.dashes.size()), 0);
    library_.cairo_stroke(context_);
  }
  void operator()(const Area& area) const {
    take(colours_of(area.tint));
    follow(area.corners);
    library_.cairo_close_path(context_);
    library_.cairo_fill(context_);
  }
  void operator()(const Words& words) const {
    take(colours_of({Tint::Of::Words}));
    cairo_text_extents_t extents;
    library_.cairo_text_extents(context_, words.text.c_str(), &extents);
    constexpr std::array<double, 3> kBefore{0, 0.5, 1};
    library_.cairo_move_to(
        context_, words.at.x - kBefore[static_cast<size_t>(words.part)] * extents.x_advance, words.at.y);
    library_.cairo_show_text(context_, words.text.c_str());
  }

 private:
  void follow(const std::vector<Point>& points) const {
    for (size_t i = 0; i < points.size(); ++i)
      (i == 0 ? library_.cairo_move_to : library_.cairo_line_to)(context_, points[i].x, points[i].y);
  }

  const Cairo& library_;
  cairo_t* context_;
  const Paper paper_;
};

}  // namespace

Result<Raster> raster_of(const Drawing& drawing, double scale, Paper paper) {
  const auto library = cairo();
  if (!library) return library.error();
  Raster raster{static_cast<int>(drawing.width * scale), static_cast<int>(drawing.height * scale)};
  raster.pixels.resize(static_cast<size_t>(raster.width) * static_cast<size_t>(raster.height));
  const Surface surface = surface_of(**library, raster);
  const Context context((*library)->cairo_create(surface.get()), (*library)->cairo_destroy);
  const Brush brush(**library, context.get(), paper);
  brush.take(kPaper);
  (*library)->cairo_paint(context.get());
  (*library)->cairo_scale(context.get(), scale, scale);
  for (const auto& shape : drawing.shapes) std::visit(brush, shape);
  return raster;
}

Raster raster_of(const Image& image, int enlarged) {
  Raster raster{static_cast<int>(image.width) * enlarged, static_cast<int>(image.height) * enlarged};
  raster.pixels.reserve(static_cast<size_t>(raster.width) * static_cast<size_t>(raster.height));
  for (int y = 0; y < raster.height; ++y)
    for (int x = 0; x < raster.width; ++x) {
      const Colour colour = *colour_at(image, x / enlarged, y / enlarged);
      raster.pixels.push_back(static_cast<uint32_t>(colour[0] << 16 | colour[1] << 8 | colour[2]));
    }
  return raster;
}

Result<std::string> to_png(const Raster& raster) {
  const auto library = cairo();
  if (!library) return library.error();
  std::string bytes;
  const auto append = [](void* to, const unsigned char* data, unsigned length) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
  };
  const Surface surface = surface_of(**library, raster);
  if ((*library)->cairo_surface_write_to_png_stream(surface.get(), append, &bytes) != CAIRO_STATUS_SUCCESS)
    return Failure{"the picture is too large for a PNG"};
  return bytes;
}

}  // namespace quern::picture
