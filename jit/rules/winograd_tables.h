#pragma once
// The matrices of F(2, 3) and F(4, 3) (Lavin and Gray 2016, sections 4.1 and 4.3).

#include <vector>

namespace quern::loops {

using Matrix = std::vector<std::vector<double>>;

struct WinogradTables {
  Matrix data, weight, result;  ///< B^T, G and A^T
};

inline const WinogradTables& winograd_tables(int tile) {
  static const WinogradTables two{{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
                                  {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
                                  {{1, 1, 1, 0}, {0, 1, -1, -1}}};
  static const WinogradTables four{
      {{4, 0, -5, 0, 1, 0},
       {0, -4, -4, 1, 1, 0},
       {0, 4, -4, -1, 1, 0},
       {0, -2, -1, 2, 1, 0},
       {0, 2, -1, -2, 1, 0},
       {0, 4, 0, -5, 0, 1}},
      {{1.0 / 4, 0, 0},
       {-1.0 / 6, -1.0 / 6, -1.0 / 6},
       {-1.0 / 6, 1.0 / 6, -1.0 / 6},
       {1.0 / 24, 1.0 / 12, 1.0 / 6},
       {1.0 / 24, -1.0 / 12, 1.0 / 6},
       {0, 0, 1}},
      {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};
  return tile == 2 ? two : four;
}

}  // namespace quern::loops
