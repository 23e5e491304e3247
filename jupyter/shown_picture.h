#pragma once
// Passes pictures from the session's thread, where commands draw them, to the server's thread, which publishes them.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "repl/picture/picture.h"

namespace quern::jupyter {

/// A picture in the format that notebooks show best, and as characters for clients that show no images.
struct ShownPicture {
  std::string type, content;  ///< `image/svg+xml`, or `image/png` in base64
  int width = 0, height = 0;  ///< of a PNG
  std::string text;
};
/// A chart as SVG, an image as PNG. Without Cairo, which draws both, only the text is available.
ShownPicture shown_picture(const picture::Picture& picture, std::string text);

/// Passes on one picture at a time.
class PictureExchange {
 public:
  /// Called on the session's thread. Returns once the picture is taken, so that later output follows it.
  void give(ShownPicture picture);
  /// Called on the server's thread. Calls `publish` if a picture is waiting.
  void take(const std::function<void(const ShownPicture& picture)>& publish);

 private:
  std::mutex mutex_;
  std::condition_variable taken_;
  std::optional<ShownPicture> waiting_;
};

}  // namespace quern::jupyter
