// Functions whose result is a sparse matrix, and triangular solutions. Numbers are complex ones in double
// precision while they are computed, which hold those of every type. cuSPARSE Library, "Sparse Generic APIs".
#include "runtime/cpu/libraries/cusparse/elements.h"

#include <algorithm>
#include <complex>
#include <map>
#include <vector>

struct cusparseSpGEMMDescr {
  /// The product's rows, from the estimation or computation on.
  std::vector<std::map<std::int64_t, std::complex<double>>> rows;
};
struct cusparseSpSVDescr {};
struct cusparseSpSMDescr {};

namespace warplens::libraries {
namespace {

using Value = std::complex<double>;
using Row = std::map<std::int64_t, Value>;

void put_index(void* data, cusparseIndexType_t type, std::int64_t at, std::int64_t value) {
  if (type == CUSPARSE_INDEX_64I)
    static_cast<std::int64_t*>(data)[at] = value;
  else
    static_cast<std::int32_t*>(data)[at] = static_cast<std::int32_t>(value);
}

/// A scalar of the call: read at the call, or, in the pointer mode for devices, when the stream comes to it.
std::function<Value()> scalar(cusparseHandle_t handle, cudaDataType type, const void* place) {
  if (handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE)
    return [=] { return read<Value>(type, place); };
  return [value = read<Value>(type, place)] { return value; };
}

/// Returns the rows of op(A).
std::vector<Row> rows_of(const cusparseSpMatDescr& matrix, cusparseOperation_t operation) {
  const bool is_transposed = operation != CUSPARSE_OPERATION_NON_TRANSPOSE;
  std::vector<Row> rows(std::size_t(is_transposed ? matrix.columns : matrix.rows));
  for_each_element<Value>(matrix, [&](std::int64_t row, std::int64_t column, Value value) {
    if (is_transposed)
      std::swap(row, column);
    rows[std::size_t(row)][column] +=
        operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(value) : value;
  });
  return rows;
}

std::int64_t count_of(const std::vector<Row>& rows) {
  std::int64_t count = 0;
  for (const Row& row : rows)
    count += std::int64_t(row.size());
  return count;
}

/// Writes the offsets of a CSR or CSC matrix; of one in coordinates there are none.
void write_offsets(const cusparseSpMatDescr& matrix, const std::vector<Row>& rows) {
  if (matrix.format == CUSPARSE_FORMAT_COO || !matrix.outer)
    return;
  std::vector<std::int64_t> counts(
      std::size_t(matrix.format == CUSPARSE_FORMAT_CSR ? matrix.rows : matrix.columns));
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (const auto& [column, value] : rows[row])
      ++counts[matrix.format == CUSPARSE_FORMAT_CSR ? row : std::size_t(column)];
  std::int64_t at = matrix.base;
  put_index(matrix.outer, matrix.outer_type, 0, at);
  for (std::size_t i = 0; i < counts.size(); ++i)
    put_index(matrix.outer, matrix.outer_type, std::int64_t(i) + 1, at += counts[i]);
}

/// Writes indices and values, in order.
void write_elements(const cusparseSpMatDescr& matrix, const std::vector<Row>& rows) {
  struct Element {
    std::int64_t outer, inner;
    Value value;
  };
  std::vector<Element> elements;
  const bool by_columns = matrix.format == CUSPARSE_FORMAT_CSC;
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (const auto& [column, value] : rows[row])
      elements.push_back(
          {by_columns ? column : std::int64_t(row), by_columns ? std::int64_t(row) : column, value});
  std::stable_sort(elements.begin(), elements.end(),
                   [](const Element& x, const Element& y) { return x.outer < y.outer; });
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto at = std::int64_t(i);
    if (matrix.format == CUSPARSE_FORMAT_COO)
      put_index(matrix.outer, matrix.outer_type, at, elements[i].outer + matrix.base);
    put_index(matrix.inner, matrix.inner_type, at, elements[i].inner + matrix.base);
    write<Value>(matrix.type, matrix.values, elements[i].value, at);
  }
}

std::vector<Row> nonzeros_of(const Dense& from) {
  std::vector<Row> rows(std::size_t(from.rows));
  for (std::int64_t row = 0; row < from.rows; ++row)
    for (std::int64_t column = 0; column < from.columns; ++column)
      if (const auto value = read<Value>(from.type, from.values, from.at(row, column)); value != Value(0))
        rows[std::size_t(row)][column] = value;
  return rows;
}

std::vector<Row> product(const std::vector<Row>& a, const std::vector<Row>& b, Value alpha) {
  std::vector<Row> result(a.size());
  for (std::size_t row = 0; row < a.size(); ++row)
    for (const auto& [k, factor] : a[row])
      for (const auto& [column, value] : b[std::size_t(k)])
        result[row][column] += alpha * factor * value;
  return result;
}

/// Solves op(A) · X = alpha · B for each column; elements of A outside of its triangle do not count.
cusparseStatus_t solve(const char* function, cusparseHandle_t handle, cusparseOperation_t operation,
                       const void* alpha, cusparseConstSpMatDescr_t a, Dense b, Dense x,
                       cudaDataType compute) {
  if (!handle)
    return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!alpha || a->rows != a->columns || a->rows != b.rows || b.rows != x.rows || b.columns != x.columns)
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_known(*a) || !bytes_of(b.type) || !bytes_of(x.type))
    return refuse(function);
  return issue(handle, function, [=, matrix = *a, factor = scalar(handle, compute, alpha)] {
    const std::vector<Row> rows = rows_of(matrix, operation);
    const bool is_lower =
        (matrix.fill == CUSPARSE_FILL_MODE_LOWER) == (operation == CUSPARSE_OPERATION_NON_TRANSPOSE);
    const bool has_ones = matrix.diagonal == CUSPARSE_DIAG_TYPE_UNIT;
    const std::int64_t n = matrix.rows;
    std::vector<Value> found(static_cast<std::size_t>(n));
    for (std::int64_t column = 0; column < b.columns; ++column) {
      for (std::int64_t step = 0; step < n; ++step) {
        const std::int64_t row = is_lower ? step : n - 1 - step;
        Value sum = factor() * read<Value>(b.type, b.values, b.at(row, column)), diagonal = 1;
        for (const auto& [k, value] : rows[std::size_t(row)])
          if (k == row)
            diagonal = has_ones ? Value(1) : value;
          else if ((k < row) == is_lower)
            sum -= value * found[std::size_t(k)];
        found[std::size_t(row)] = sum / diagonal;
      }
      for (std::int64_t row = 0; row < n; ++row)
        write<Value>(x.type, x.values, found[std::size_t(row)], x.at(row, column));
    }
  });
}

template <class T> cusparseStatus_t create(T** made) {
  if (!made)
    return CUSPARSE_STATUS_INVALID_VALUE;
  *made = new T;
  return CUSPARSE_STATUS_SUCCESS;
}
template <class T> cusparseStatus_t destroy(T* made) {
  delete made;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t needs_no_analysis(cusparseHandle_t handle) {
  return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

} // namespace
} // namespace warplens::libraries

using namespace warplens::libraries;

extern "C" {

cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t,
                                                  cusparseSpMatDescr_t, cusparseDenseToSparseAlg_t,
                                                  std::size_t* bytes) {
  return no_buffer(handle, bytes);
}
/// Says how many elements there are at once: the program asks the descriptor for it next.
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t from,
                                                cusparseSpMatDescr_t to, cusparseDenseToSparseAlg_t, void*) {
  if (!handle)
    return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!from || !to || from->rows != to->rows || from->columns != to->columns)
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_known(*to) || !bytes_of(from->type))
    return refuse("cusparseDenseToSparse_analysis");
  return issue(handle, "cusparseDenseToSparse_analysis", [to, matrix = *to, from = dense(*from)] {
    const auto rows = nonzeros_of(from);
    to->nonzeros = count_of(rows);
    write_offsets(matrix, rows);
  });
}
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t from,
                                               cusparseSpMatDescr_t to, cusparseDenseToSparseAlg_t, void*) {
  if (!handle)
    return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!from || !to || from->rows != to->rows || from->columns != to->columns)
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_known(*to) || !bytes_of(from->type))
    return refuse("cusparseDenseToSparse_convert");
  return issue(handle, "cusparseDenseToSparse_convert", [matrix = *to, from = dense(*from)] {
    const auto rows = nonzeros_of(from);
    write_offsets(matrix, rows);
    write_elements(matrix, rows);
  });
}

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* made) {
  return create(made);
}
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t description) {
  return destroy(description);
}
cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t,
                                               cusparseOperation_t, const void*, cusparseConstSpMatDescr_t,
                                               cusparseConstSpMatDescr_t, const void*, cusparseSpMatDescr_t,
                                               cudaDataType, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t,
                                               std::size_t* bytes, void*) {
  return no_buffer(handle, bytes);
}
/// The first call, without a buffer, asks for its size; the one with it computes. As no buffer is needed, the
/// product is there after either.
cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t a_operation,
                                        cusparseOperation_t b_operation, const void* alpha,
                                        cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void*,
                                        cusparseSpMatDescr_t c, cudaDataType compute, cusparseSpGEMMAlg_t,
                                        cusparseSpGEMMDescr_t description, std::size_t* bytes, void*) {
  if (const cusparseStatus_t status = no_buffer(handle, bytes); status != CUSPARSE_STATUS_SUCCESS)
    return status;
  if (!alpha || !a || !b || !c || !description)
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_known(*a) || !is_known(*b) || !is_known(*c))
    return refuse("cusparseSpGEMM_compute");
  const auto columns = a_operation == CUSPARSE_OPERATION_NON_TRANSPOSE ? a->columns : a->rows,
             rows = b_operation == CUSPARSE_OPERATION_NON_TRANSPOSE ? b->rows : b->columns;
  if (columns != rows)
    return CUSPARSE_STATUS_INVALID_VALUE;
  return issue(handle, "cusparseSpGEMM_compute",
               [=, a = *a, b = *b, factor = scalar(handle, compute, alpha)] {
                 description->rows = product(rows_of(a, a_operation), rows_of(b, b_operation), factor());
                 c->nonzeros = count_of(description->rows);
               });
}
/// beta counts only where C has elements from an earlier product of the same pattern.
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                                     const void*, cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t,
                                     const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                     cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t description) {
  if (!handle)
    return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!beta || !c || !description)
    return CUSPARSE_STATUS_INVALID_VALUE;
  return issue(handle, "cusparseSpGEMM_copy", [=, matrix = *c, factor = scalar(handle, compute, beta)] {
    std::vector<Row> rows = description->rows;
    if (factor() != Value(0))
      for_each_element<Value>(matrix, [&](std::int64_t row, std::int64_t column, Value value) {
        rows[std::size_t(row)][column] += factor() * value;
      });
    write_offsets(matrix, rows);
    write_elements(matrix, rows);
  });
}

cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* made) {
  return create(made);
}
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t description) {
  return destroy(description);
}
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                         cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t,
                                         cusparseSpSVDescr_t, std::size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                       cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                       cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t,
                                       cusparseSpSVDescr_t, void*) {
  return needs_no_analysis(handle);
}
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t operation, const void* alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t b,
                                    cusparseDnVecDescr_t x, cudaDataType compute, cusparseSpSVAlg_t,
                                    cusparseSpSVDescr_t) {
  if (!a || !b || !x)
    return CUSPARSE_STATUS_INVALID_VALUE;
  return solve("cusparseSpSV_solve", handle, operation, alpha, a, dense(*b), dense(*x), compute);
}

cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t* made) {
  return create(made);
}
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t description) {
  return destroy(description);
}
cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                                         const void*, cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                         cusparseDnMatDescr_t, cudaDataType, cusparseSpSMAlg_t,
                                         cusparseSpSMDescr_t, std::size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                                       const void*, cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                       cusparseDnMatDescr_t, cudaDataType, cusparseSpSMAlg_t,
                                       cusparseSpSMDescr_t, void*) {
  return needs_no_analysis(handle);
}
cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t a_operation,
                                    cusparseOperation_t b_operation, const void* alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                    cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t,
                                    cusparseSpSMDescr_t) {
  if (!a || !b || !c)
    return CUSPARSE_STATUS_INVALID_VALUE;
  return solve("cusparseSpSM_solve", handle, a_operation, alpha, a, dense(*b, b_operation), dense(*c),
               compute);
}

cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                                          const void*, cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t,
                                          const void*, cusparseSpMatDescr_t, cudaDataType, cusparseSDDMMAlg_t,
                                          std::size_t* bytes) {
  return no_buffer(handle, bytes);
}
cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                                          const void*, cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t,
                                          const void*, cusparseSpMatDescr_t, cudaDataType, cusparseSDDMMAlg_t,
                                          void*) {
  return needs_no_analysis(handle);
}
/// C = alpha · (op(A) · op(B)) at the elements that C has + beta · C.
cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t a_operation,
                               cusparseOperation_t b_operation, const void* alpha,
                               cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void* beta,
                               cusparseSpMatDescr_t c, cudaDataType compute, cusparseSDDMMAlg_t, void*) {
  if (!handle)
    return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!alpha || !a || !b || !beta || !c)
    return CUSPARSE_STATUS_INVALID_VALUE;
  const Dense left = dense(*a, a_operation), right = dense(*b, b_operation);
  if (left.rows != c->rows || right.columns != c->columns || left.columns != right.rows)
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_known(*c) || !bytes_of(left.type) || !bytes_of(right.type))
    return refuse("cusparseSDDMM");
  return issue(
      handle, "cusparseSDDMM",
      [=, matrix = *c, of_product = scalar(handle, compute, alpha), of_c = scalar(handle, compute, beta)] {
        std::int64_t at = 0; // elements come in the order in which they are stored
        for_each_element<Value>(matrix, [&](std::int64_t row, std::int64_t column, Value value) {
          Value sum = 0;
          for (std::int64_t k = 0; k < left.columns; ++k)
            sum += read<Value>(left.type, left.values, left.at(row, k)) *
                   read<Value>(right.type, right.values, right.at(k, column));
          write<Value>(matrix.type, matrix.values, of_product() * sum + of_c() * value, at++);
        });
      });
}

} // extern "C"
