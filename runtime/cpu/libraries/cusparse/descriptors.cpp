// Handles and descriptors of cuSPARSE. cuSPARSE Library, "cuSPARSE Management Function Reference" and
// "Generic API Reference".
#include "runtime/cpu/libraries/cusparse/descriptors.h"

namespace {

/// Implements the calls that make a descriptor.
template <class T, class... Members> cusparseStatus_t create(const T** made, Members... members) {
  if (!made)
    return CUSPARSE_STATUS_INVALID_VALUE;
  *made = new T{members...};
  return CUSPARSE_STATUS_SUCCESS;
}
template <class T> cusparseStatus_t destroy(const T* made) {
  delete made;
  return CUSPARSE_STATUS_SUCCESS;
}

/// A member, and the place that a getter writes it to; it is left out if that is null.
template <class V, class T, class M> struct Out {
  V* to;
  M T::* member;
};
template <class V, class T, class M> Out(V*, M T::*) -> Out<V, T, M>;

template <class T, class... Outs> cusparseStatus_t write_out(const T* described, Outs... outs) {
  if (!described)
    return CUSPARSE_STATUS_INVALID_VALUE;
  (
      [&](auto out) {
        if (out.to)
          *out.to = described->*out.member;
      }(outs),
      ...);
  return CUSPARSE_STATUS_SUCCESS;
}

/// Assigns a member of what is described.
template <class T, class V> cusparseStatus_t assign(T* described, V T::* member, V value) {
  if (!described)
    return CUSPARSE_STATUS_INVALID_VALUE;
  described->*member = value;
  return CUSPARSE_STATUS_SUCCESS;
}

struct StatusText {
  cusparseStatus_t status;
  const char *name, *description;
};
#define STATUS(status, description) {status, #status, description}
constexpr StatusText status_texts[] = {
    STATUS(CUSPARSE_STATUS_SUCCESS, "success"),
    STATUS(CUSPARSE_STATUS_NOT_INITIALIZED, "initialization error"),
    STATUS(CUSPARSE_STATUS_ALLOC_FAILED, "out of memory"),
    STATUS(CUSPARSE_STATUS_INVALID_VALUE, "invalid value"),
    STATUS(CUSPARSE_STATUS_ARCH_MISMATCH, "architecture mismatch"),
    STATUS(CUSPARSE_STATUS_MAPPING_ERROR, "texture memory mapping error"),
    STATUS(CUSPARSE_STATUS_EXECUTION_FAILED, "kernel launch failure"),
    STATUS(CUSPARSE_STATUS_INTERNAL_ERROR, "internal error"),
    STATUS(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, "matrix type not supported"),
    STATUS(CUSPARSE_STATUS_ZERO_PIVOT, "zero pivot"),
    STATUS(CUSPARSE_STATUS_NOT_SUPPORTED, "operation not supported"),
    STATUS(CUSPARSE_STATUS_INSUFFICIENT_RESOURCES, "insufficient resources"),
};
const StatusText* text_of(cusparseStatus_t status) {
  for (const StatusText& text : status_texts)
    if (text.status == status)
      return &text;
  return nullptr;
}

void* writable(const void* data) {
  return const_cast<void*>(data);
}

} // namespace

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  if (!handle)
    return CUSPARSE_STATUS_INVALID_VALUE;
  *handle = new cusparseContext;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  return handle ? destroy(handle) : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  return handle ? assign(handle, &cusparseContext::stream, stream) : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) {
  return handle ? write_out(handle, Out{stream, &cusparseContext::stream}) : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) {
  return handle ? assign(handle, &cusparseContext::pointer_mode, mode) : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode) {
  return handle ? write_out(handle, Out{mode, &cusparseContext::pointer_mode})
                : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseGetVersion(cusparseHandle_t, int* version) {
  if (!version)
    return CUSPARSE_STATUS_INVALID_VALUE;
  *version = CUSPARSE_VERSION;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int* value) {
  if (!value)
    return CUSPARSE_STATUS_INVALID_VALUE;
  *value = type == MAJOR_VERSION   ? CUSPARSE_VER_MAJOR
           : type == MINOR_VERSION ? CUSPARSE_VER_MINOR
                                   : CUSPARSE_VER_PATCH;
  return CUSPARSE_STATUS_SUCCESS;
}
const char* cusparseGetErrorName(cusparseStatus_t status) {
  const StatusText* text = text_of(status);
  return text ? text->name : "unrecognized error code";
}
const char* cusparseGetErrorString(cusparseStatus_t status) {
  const StatusText* text = text_of(status);
  return text ? text->description : "unrecognized error code";
}

// Sparse matrices. What a program declares as constant is not written.

cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* made, std::int64_t rows,
                                        std::int64_t columns, std::int64_t nonzeros, const void* offsets,
                                        const void* indices, const void* values,
                                        cusparseIndexType_t offset_type, cusparseIndexType_t index_type,
                                        cusparseIndexBase_t base, cudaDataType type) {
  return create(made, CUSPARSE_FORMAT_CSR, rows, columns, nonzeros, writable(offsets), writable(indices),
                writable(values), offset_type, index_type, base, type);
}
cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* made, std::int64_t rows, std::int64_t columns,
                                   std::int64_t nonzeros, void* offsets, void* indices, void* values,
                                   cusparseIndexType_t offset_type, cusparseIndexType_t index_type,
                                   cusparseIndexBase_t base, cudaDataType type) {
  return cusparseCreateConstCsr(const_cast<cusparseConstSpMatDescr_t*>(made), rows, columns, nonzeros,
                                offsets, indices, values, offset_type, index_type, base, type);
}
cusparseStatus_t cusparseCreateConstCsc(cusparseConstSpMatDescr_t* made, std::int64_t rows,
                                        std::int64_t columns, std::int64_t nonzeros, const void* offsets,
                                        const void* indices, const void* values,
                                        cusparseIndexType_t offset_type, cusparseIndexType_t index_type,
                                        cusparseIndexBase_t base, cudaDataType type) {
  return create(made, CUSPARSE_FORMAT_CSC, rows, columns, nonzeros, writable(offsets), writable(indices),
                writable(values), offset_type, index_type, base, type);
}
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* made, std::int64_t rows, std::int64_t columns,
                                   std::int64_t nonzeros, void* offsets, void* indices, void* values,
                                   cusparseIndexType_t offset_type, cusparseIndexType_t index_type,
                                   cusparseIndexBase_t base, cudaDataType type) {
  return cusparseCreateConstCsc(const_cast<cusparseConstSpMatDescr_t*>(made), rows, columns, nonzeros,
                                offsets, indices, values, offset_type, index_type, base, type);
}
cusparseStatus_t cusparseCreateConstCoo(cusparseConstSpMatDescr_t* made, std::int64_t rows,
                                        std::int64_t columns, std::int64_t nonzeros, const void* row_indices,
                                        const void* column_indices, const void* values,
                                        cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                        cudaDataType type) {
  return create(made, CUSPARSE_FORMAT_COO, rows, columns, nonzeros, writable(row_indices),
                writable(column_indices), writable(values), index_type, index_type, base, type);
}
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* made, std::int64_t rows, std::int64_t columns,
                                   std::int64_t nonzeros, void* row_indices, void* column_indices,
                                   void* values, cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                   cudaDataType type) {
  return cusparseCreateConstCoo(const_cast<cusparseConstSpMatDescr_t*>(made), rows, columns, nonzeros,
                                row_indices, column_indices, values, index_type, base, type);
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
  return destroy(matrix);
}
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, std::int64_t* rows,
                                      std::int64_t* columns, std::int64_t* nonzeros) {
  return write_out(matrix, Out{rows, &cusparseSpMatDescr::rows}, Out{columns, &cusparseSpMatDescr::columns},
                   Out{nonzeros, &cusparseSpMatDescr::nonzeros});
}
cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t matrix, cusparseFormat_t* format) {
  return write_out(matrix, Out{format, &cusparseSpMatDescr::format});
}
cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t matrix, cusparseIndexBase_t* base) {
  return write_out(matrix, Out{base, &cusparseSpMatDescr::base});
}
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t matrix, void** values) {
  return write_out(matrix, Out{values, &cusparseSpMatDescr::values});
}
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t matrix, void* values) {
  return assign(matrix, &cusparseSpMatDescr::values, values);
}
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void* offsets, void* indices,
                                        void* values) {
  if (!matrix)
    return CUSPARSE_STATUS_INVALID_VALUE;
  matrix->outer = offsets;
  matrix->inner = indices;
  return assign(matrix, &cusparseSpMatDescr::values, values);
}
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t matrix, void* offsets, void* indices,
                                        void* values) {
  return cusparseCsrSetPointers(matrix, offsets, indices, values);
}
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t matrix, void* rows, void* columns,
                                        void* values) {
  return cusparseCsrSetPointers(matrix, rows, columns, values);
}
cusparseStatus_t cusparseCsrGet(cusparseSpMatDescr_t matrix, std::int64_t* rows, std::int64_t* columns,
                                std::int64_t* nonzeros, void** offsets, void** indices, void** values,
                                cusparseIndexType_t* offset_type, cusparseIndexType_t* index_type,
                                cusparseIndexBase_t* base, cudaDataType* type) {
  return write_out(matrix, Out{rows, &cusparseSpMatDescr::rows}, Out{columns, &cusparseSpMatDescr::columns},
                   Out{nonzeros, &cusparseSpMatDescr::nonzeros}, Out{offsets, &cusparseSpMatDescr::outer},
                   Out{indices, &cusparseSpMatDescr::inner}, Out{values, &cusparseSpMatDescr::values},
                   Out{offset_type, &cusparseSpMatDescr::outer_type},
                   Out{index_type, &cusparseSpMatDescr::inner_type}, Out{base, &cusparseSpMatDescr::base},
                   Out{type, &cusparseSpMatDescr::type});
}
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t matrix, cusparseSpMatAttribute_t attribute,
                                           void* data, std::size_t bytes) {
  if (!matrix || !data || bytes != sizeof(cusparseFillMode_t))
    return CUSPARSE_STATUS_INVALID_VALUE;
  return attribute == CUSPARSE_SPMAT_FILL_MODE
             ? assign(matrix, &cusparseSpMatDescr::fill, *static_cast<cusparseFillMode_t*>(data))
             : assign(matrix, &cusparseSpMatDescr::diagonal, *static_cast<cusparseDiagType_t*>(data));
}

// Dense vectors and matrices.

cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* made, std::int64_t size,
                                          const void* values, cudaDataType type) {
  return create(made, size, writable(values), type);
}
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* made, std::int64_t size, void* values,
                                     cudaDataType type) {
  return cusparseCreateConstDnVec(const_cast<cusparseConstDnVecDescr_t*>(made), size, values, type);
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) {
  return destroy(vector);
}
cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t vector, std::int64_t* size, void** values,
                                  cudaDataType* type) {
  return write_out(vector, Out{size, &cusparseDnVecDescr::size}, Out{values, &cusparseDnVecDescr::values},
                   Out{type, &cusparseDnVecDescr::type});
}
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t vector, void** values) {
  return write_out(vector, Out{values, &cusparseDnVecDescr::values});
}
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values) {
  return assign(vector, &cusparseDnVecDescr::values, values);
}
cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t* made, std::int64_t rows,
                                          std::int64_t columns, std::int64_t leading, const void* values,
                                          cudaDataType type, cusparseOrder_t order) {
  return create(made, rows, columns, leading, writable(values), type, order);
}
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* made, std::int64_t rows, std::int64_t columns,
                                     std::int64_t leading, void* values, cudaDataType type,
                                     cusparseOrder_t order) {
  return cusparseCreateConstDnMat(const_cast<cusparseConstDnMatDescr_t*>(made), rows, columns, leading,
                                  values, type, order);
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) {
  return destroy(matrix);
}
cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t matrix, std::int64_t* rows, std::int64_t* columns,
                                  std::int64_t* leading, void** values, cudaDataType* type,
                                  cusparseOrder_t* order) {
  return write_out(matrix, Out{rows, &cusparseDnMatDescr::rows}, Out{columns, &cusparseDnMatDescr::columns},
                   Out{leading, &cusparseDnMatDescr::leading}, Out{values, &cusparseDnMatDescr::values},
                   Out{type, &cusparseDnMatDescr::type}, Out{order, &cusparseDnMatDescr::order});
}
cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t matrix, void** values) {
  return write_out(matrix, Out{values, &cusparseDnMatDescr::values});
}
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t matrix, void* values) {
  return assign(matrix, &cusparseDnMatDescr::values, values);
}
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t matrix, int count, std::int64_t stride) {
  if (!matrix || count <= 0)
    return CUSPARSE_STATUS_INVALID_VALUE;
  matrix->batch_stride = stride;
  return assign(matrix, &cusparseDnMatDescr::batch_count, count);
}

} // extern "C"
