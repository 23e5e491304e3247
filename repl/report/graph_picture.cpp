#include "repl/report/graph_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/text/source.h"
#include "repl/report/xml_text.h"

namespace quern {

namespace {

constexpr double kCharacter = 7.3, kLine = 16, kPadding = 10, kBetween = 30, kLayerGap = 56;

/// A node, or a place that a long edge comes through.
struct Spot {
  size_t node;  ///< of the graph; kNoNode for an edge's
  size_t layer = 0;
  double x = 0, y = 0, width = 0, height = 0;  ///< of its middle
  std::vector<size_t> above{}, below{};
};
constexpr size_t kNoNode = SIZE_MAX;

struct Route {
  size_t from;               ///< node of the graph
  std::vector<size_t> path;  ///< places, from the top to the bottom
};

std::vector<std::string> lines_of(const KernelGraph::Node& node) {
  std::vector<std::string> lines{node.name};
  if (!node.shape.empty()) lines.push_back(node.shape);
  if (!node.flops.empty()) lines.push_back(node.flops + " FLOPs");
  return lines;
}

class Picture {
 public:
  explicit Picture(const KernelGraph& graph) : graph_(graph) {
    place_nodes();
    route_edges();
    order_layers();
    set_coordinates();
  }

  std::string svg() const {
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
        "{0:.0f} "
        "{1:.0f}\" font-family=\"monospace\" font-size=\"12\">\n"
        "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" "
        "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        width_, height_);
    for (const Route& edge : edges_) out += edge_svg(edge);
    for (const Spot& place : places_)
      if (place.node != kNoNode) out += node_svg(place);
    return out + "</svg>\n";
  }

 private:
  void place_nodes() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      Spot place{.node = i};
      for (size_t read : graph_.nodes[i].reads) place.layer = std::max(place.layer, places_[read].layer + 1);
      size_t columns = 0;
      const std::vector<std::string> lines = lines_of(graph_.nodes[i]);
      for (const std::string& line : lines) columns = std::max<size_t>(columns, count_code_points(line));
      place.width = static_cast<double>(columns) * kCharacter + 2 * kPadding;
      place.height = static_cast<double>(lines.size()) * kLine + kPadding;
      places_.push_back(place);
    }
  }

  void route_edges() {
    const size_t count = places_.size();
    for (size_t i = 0; i < count; ++i)
      for (size_t read : graph_.nodes[i].reads) {
        Route edge{read, {read}};
        for (size_t layer = places_[read].layer + 1; layer < places_[i].layer; ++layer) {
          places_.push_back({.node = kNoNode, .layer = layer, .width = 8});
          edge.path.push_back(places_.size() - 1);
        }
        edge.path.push_back(i);
        for (size_t k = 0; k + 1 < edge.path.size(); ++k) {
          places_[edge.path[k]].below.push_back(edge.path[k + 1]);
          places_[edge.path[k + 1]].above.push_back(edge.path[k]);
        }
        edges_.push_back(std::move(edge));
      }
    for (size_t i = 0; i < places_.size(); ++i) {
      layers_.resize(std::max(layers_.size(), places_[i].layer + 1));
      layers_[places_[i].layer].push_back(i);
    }
  }

  /// Each place near the middle of its neighbours in the layer before, downwards and upwards by turns.
  void order_layers() {
    constexpr int kSweeps = 8;
    std::vector<double> position(places_.size(), 0);
    const auto number = [&](const std::vector<size_t>& layer) {
      for (size_t k = 0; k < layer.size(); ++k) position[layer[k]] = static_cast<double>(k);
    };
    for (auto& layer : layers_) number(layer);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t k = 0; k < layers_.size(); ++k) {
        std::vector<size_t>& layer = layers_[down ? k : layers_.size() - 1 - k];
        std::map<size_t, double> middle;
        for (size_t place : layer) {
          const std::vector<size_t>& near = down ? places_[place].above : places_[place].below;
          double sum = 0;
          for (size_t other : near) sum += position[other];
          middle[place] = near.empty() ? position[place] : sum / static_cast<double>(near.size());
        }
        std::ranges::stable_sort(layer, {}, [&](size_t place) { return middle[place]; });
        number(layer);
      }
    }
  }

  void set_coordinates() {
    double y = kBetween;
    for (const std::vector<size_t>& layer : layers_) {
      double width = 0, height = 0;
      for (size_t place : layer) {
        width += places_[place].width + kBetween;
        height = std::max(height, places_[place].height);
      }
      width_ = std::max(width_, width + kBetween);
      for (size_t place : layer) places_[place].y = y + height / 2;
      y += height + kLayerGap;
    }
    height_ = y - kLayerGap + kBetween;
    for (const std::vector<size_t>& layer : layers_) {
      double width = -kBetween;
      for (size_t place : layer) width += places_[place].width + kBetween;
      double x = (width_ - width) / 2;
      for (size_t place : layer) {
        places_[place].x = x + places_[place].width / 2;
        x += places_[place].width + kBetween;
      }
    }
  }

  std::string edge_svg(const Route& edge) const {
    const Spot& top = places_[edge.path.front()];
    double x = top.x, y = top.y + top.height / 2;
    std::string path = fmt::format("M{:.1f} {:.1f}", x, y);
    for (size_t k = 1; k < edge.path.size(); ++k) {
      const Spot& next = places_[edge.path[k]];
      const double to = next.y - next.height / 2, middle = (y + to) / 2;
      path += fmt::format("C{0:.1f} {1:.1f} {2:.1f} {1:.1f} {2:.1f} {3:.1f}", x, middle, next.x, to);
      x = next.x;
      y = to;
    }
    const Spot& first = places_[edge.path[1]];
    return fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"#555\" marker-end=\"url(#arrow)\"/>\n"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"10\" fill=\"#555\" "
        "stroke=\"white\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>\n",
        path, (top.x + first.x) / 2, (top.y + top.height / 2 + first.y - first.height / 2) / 2 + 3,
        xml_text(graph_.nodes[edge.from].shape));
  }

  std::string node_svg(const Spot& place) const {
    const KernelGraph::Node& node = graph_.nodes[place.node];
    const bool is_kernel = node.kind == KernelGraph::NodeKind::Kernel;
    std::string out = fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\" fill=\"{}\" "
        "stroke=\"#333\"/>\n",
        place.x - place.width / 2, place.y - place.height / 2, place.width, place.height, is_kernel ? 3 : 12,
        is_kernel ? "#e8f0fb" : "#f4f4f0");
    double y = place.y - place.height / 2 + kPadding / 2 + kLine * 0.75;
    for (const std::string& line : lines_of(node)) {
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", place.x, y,
                         xml_text(line));
      y += kLine;
    }
    return out;
  }

  const KernelGraph& graph_;
  std::vector<Spot> places_;  ///< first those of the nodes
  std::vector<Route> edges_;
  std::vector<std::vector<size_t>> layers_;
  double width_ = 0, height_ = 0;
};

}  // namespace

std::string to_svg(const KernelGraph& graph) { return Picture(graph).svg(); }

}  // namespace quern
