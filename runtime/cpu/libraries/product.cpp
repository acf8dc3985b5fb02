// Both matrices are packed into panels of the width of a tile; a tile's sums stay in registers while it goes
// along a panel.
#include "runtime/cpu/libraries/product.h"

#include <algorithm>
#include <tbb/parallel_for.h>

namespace warplens::libraries {
namespace {

constexpr std::int64_t tile_rows = 16, tile_columns = 6; // twelve registers of eight floats
constexpr std::int64_t depth = 256;                      // a panel's piece stays in the first cache

/// Adds the product of a panel of `a` and one of `b` to the tile.
template <class T>
[[gnu::always_inline]] inline void add_tile(const T* a, const T* b, std::int64_t k, T* tile) {
  T sums[tile_columns][tile_rows];
  std::copy_n(tile, tile_rows * tile_columns, sums[0]);
  for (std::int64_t l = 0; l < k; ++l)
    for (std::int64_t j = 0; j < tile_columns; ++j)
      for (std::int64_t i = 0; i < tile_rows; ++i)
        sums[j][i] += a[l * tile_rows + i] * b[l * tile_columns + j];
  std::copy_n(sums[0], tile_rows * tile_columns, tile);
}

#if defined(__x86_64__)
#define ANY_PROCESSOR [[gnu::target_clones("arch=x86-64-v3", "default")]]
#else
#define ANY_PROCESSOR
#endif
ANY_PROCESSOR void multiply_tile(const float* a, const float* b, std::int64_t k, float* tile) {
  add_tile(a, b, k, tile);
}
ANY_PROCESSOR void multiply_tile(const double* a, const double* b, std::int64_t k, double* tile) {
  add_tile(a, b, k, tile);
}
/// Sums wrap around, as those of tensor cores do.
ANY_PROCESSOR void multiply_tile(const std::uint32_t* a, const std::uint32_t* b, std::int64_t k,
                                 std::uint32_t* tile) {
  add_tile(a, b, k, tile);
}
void multiply_tile(const std::complex<float>* a, const std::complex<float>* b, std::int64_t k,
                   std::complex<float>* tile) {
  add_tile(a, b, k, tile);
}
void multiply_tile(const std::complex<double>* a, const std::complex<double>* b, std::int64_t k,
                   std::complex<double>* tile) {
  add_tile(a, b, k, tile);
}

/// The panels of `width` rows of a matrix with this many rows; within a panel column by column. Rows beyond
/// the last are zero.
template <class T>
std::vector<T> pack(const Operand& matrix, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                    std::int64_t column_stride, std::int64_t width) {
  const std::int64_t panels = (rows + width - 1) / width;
  std::vector<T> packed(std::size_t(panels * width * columns));
  with_type(matrix.type, [&]<class S>(Tag<S>) {
    const auto* const data = static_cast<const S*>(matrix.data);
    tbb::parallel_for(std::int64_t{0}, panels, [&](std::int64_t panel) {
      T* to = packed.data() + panel * width * columns;
      const std::int64_t first = panel * width, many = std::min(width, rows - first);
      for (std::int64_t column = 0; column < columns; ++column, to += width)
        for (std::int64_t row = 0; row < many; ++row) {
          const auto value = convert<T>(data[(first + row) * row_stride + column * column_stride]);
          to[row] = matrix.conjugated ? conjugate(value) : value;
        }
    });
  });
  return packed;
}

template <class T>
std::vector<T> multiply(std::int64_t m, std::int64_t n, std::int64_t k, const Operand& a, const Operand& b) {
  const auto rows = pack<T>(a, m, k, a.row_stride, a.column_stride, tile_rows);
  const auto columns = pack<T>(b, n, k, b.column_stride, b.row_stride, tile_columns);
  std::vector<T> result(std::size_t(m * n));
  const std::int64_t row_panels = (m + tile_rows - 1) / tile_rows,
                     column_panels = (n + tile_columns - 1) / tile_columns;
  tbb::parallel_for(std::int64_t{0}, column_panels, [&](std::int64_t column_panel) {
    std::vector<T> tiles(std::size_t(row_panels * tile_rows * tile_columns));
    for (std::int64_t first = 0; first < k; first += depth)
      for (std::int64_t row_panel = 0; row_panel < row_panels; ++row_panel)
        multiply_tile(rows.data() + (row_panel * k + first) * tile_rows,
                      columns.data() + (column_panel * k + first) * tile_columns, std::min(depth, k - first),
                      tiles.data() + row_panel * tile_rows * tile_columns);
    const std::int64_t first_column = column_panel * tile_columns;
    for (std::int64_t j = 0; j < std::min(tile_columns, n - first_column); ++j)
      for (std::int64_t i = 0; i < m; ++i)
        result[std::size_t((first_column + j) * m + i)] =
            tiles[std::size_t((i / tile_rows * tile_columns + j) * tile_rows + i % tile_rows)];
  });
  return result;
}

} // namespace

template <class T>
std::vector<T> product(std::int64_t m, std::int64_t n, std::int64_t k, const Operand& a, const Operand& b) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    const auto sums = multiply<std::uint32_t>(m, n, k, a, b);
    return {sums.begin(), sums.end()};
  } else
    return multiply<T>(m, n, k, a, b);
}

template std::vector<float> product(std::int64_t, std::int64_t, std::int64_t, const Operand&, const Operand&);
template std::vector<double> product(std::int64_t, std::int64_t, std::int64_t, const Operand&,
                                     const Operand&);
template std::vector<std::int32_t> product(std::int64_t, std::int64_t, std::int64_t, const Operand&,
                                           const Operand&);
template std::vector<std::complex<float>> product(std::int64_t, std::int64_t, std::int64_t, const Operand&,
                                                  const Operand&);
template std::vector<std::complex<double>> product(std::int64_t, std::int64_t, std::int64_t, const Operand&,
                                                   const Operand&);

} // namespace warplens::libraries
