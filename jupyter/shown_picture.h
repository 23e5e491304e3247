#pragma once
// Pictures on their way from the session's thread, where commands make them, to the server's, which publishes them.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "repl/picture/picture.h"

namespace quern::jupyter {

/// A picture as a notebook shows it: what it shows best, and characters for what shows none.
struct ShownPicture {
  std::string type, content;  ///< `image/svg+xml`, or `image/png` in base64
  int width = 0, height = 0;  ///< of a PNG
  std::string text;
};
/// A chart as SVG, an image as PNG. Without Cairo, which makes these, there is the text alone.
ShownPicture shown_picture(const picture::Picture& picture, std::string text);

/// Hands over one picture at a time.
class PictureExchange {
 public:
  /// On the session's thread: returns when the picture is taken, so that what is printed next comes after it.
  void give(ShownPicture picture);
  /// On the server's thread: calls `publish` where a picture waits.
  void take(const std::function<void(const ShownPicture& picture)>& publish);

 private:
  std::mutex mutex_;
  std::condition_variable taken_;
  std::optional<ShownPicture> waiting_;
};

}  // namespace quern::jupyter
