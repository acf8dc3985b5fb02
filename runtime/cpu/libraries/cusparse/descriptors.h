// cuSPARSE's handle and descriptors of matrices and vectors.
#pragma once

#include <cstdint>
#include <cusparse.h>

struct cusparseContext {
  cudaStream_t stream = nullptr;
  cusparsePointerMode_t pointer_mode = CUSPARSE_POINTER_MODE_HOST;
};

/// `outer` are the offsets of rows (CSR) or columns (CSC), or the rows of a COO matrix; `inner` the other
/// indices.
struct cusparseSpMatDescr {
  cusparseFormat_t format;
  std::int64_t rows, columns, nonzeros;
  void *outer, *inner, *values;
  cusparseIndexType_t outer_type, inner_type;
  cusparseIndexBase_t base;
  cudaDataType type;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
};

struct cusparseDnVecDescr {
  std::int64_t size;
  void* values;
  cudaDataType type;
};

struct cusparseDnMatDescr {
  std::int64_t rows, columns, leading;
  void* values;
  cudaDataType type;
  cusparseOrder_t order;
  int batch_count = 1;
  std::int64_t batch_stride = 0;
};
