#include "jupyter/shown_picture.h"

#include <utility>
#include <variant>

#include "repl/pixels/base64.h"

namespace quern::jupyter {

ShownPicture shown_picture(const picture::Picture& picture, std::string text) {
  ShownPicture shown{.text = std::move(text)};
  if (!std::holds_alternative<picture::Image>(picture)) {
    if (auto svg = picture::to_svg(picture)) {
      shown.type = "image/svg+xml";
      shown.content = std::move(*svg);
    }
    return shown;
  }
  const auto raster = picture::to_raster(picture, {});
  const auto png = raster ? picture::to_png(*raster) : Result<std::string>(raster.error());
  if (!png) return shown;
  shown.type = "image/png";
  shown.content = picture::to_base64(*png);
  shown.width = raster->width;
  shown.height = raster->height;
  return shown;
}

void PictureExchange::give(ShownPicture picture) {
  std::unique_lock lock(mutex_);
  waiting_ = std::move(picture);
  taken_.wait(lock, [&] { return !waiting_; });
}

void PictureExchange::take(const std::function<void(const ShownPicture& picture)>& publish) {
  const std::lock_guard lock(mutex_);
  if (!waiting_) return;
  publish(*waiting_);
  waiting_.reset();
  taken_.notify_all();
}

}  // namespace quern::jupyter
