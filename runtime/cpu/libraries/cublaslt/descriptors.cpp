// Handles and descriptors of cuBLASLt, made, filled and read. cuBLAS Library, "Using the cuBLASLt API".
#include "runtime/cpu/libraries/cublaslt/descriptors.h"

#include <cstddef>
#include <cstring>
#include <new>

using namespace warplens::libraries;

namespace {

struct Field {
  int attribute;
  std::size_t offset, bytes;
};
#define LAYOUT(attribute, member) {attribute, offsetof(MatrixLayout, member), sizeof(MatrixLayout::member)}
constexpr Field layout_fields[] = {
    LAYOUT(CUBLASLT_MATRIX_LAYOUT_TYPE, type),
    LAYOUT(CUBLASLT_MATRIX_LAYOUT_ORDER, order),
    LAYOUT(CUBLASLT_MATRIX_LAYOUT_ROWS, rows),
    LAYOUT(CUBLASLT_MATRIX_LAYOUT_COLS, columns),
    LAYOUT(CUBLASLT_MATRIX_LAYOUT_LD, leading),
    LAYOUT(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch_count),
    LAYOUT(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, batch_stride),
    LAYOUT(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, plane_offset),
    LAYOUT(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, batch_mode),
};
#define MATMUL(attribute, member)                                                                            \
  {attribute, offsetof(MatmulDescription, member), sizeof(MatmulDescription::member)}
constexpr Field matmul_fields[] = {
    MATMUL(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, compute),
    MATMUL(CUBLASLT_MATMUL_DESC_SCALE_TYPE, scale_type),
    MATMUL(CUBLASLT_MATMUL_DESC_POINTER_MODE, pointer_mode),
    MATMUL(CUBLASLT_MATMUL_DESC_TRANSA, a_operation),
    MATMUL(CUBLASLT_MATMUL_DESC_TRANSB, b_operation),
    MATMUL(CUBLASLT_MATMUL_DESC_TRANSC, c_operation),
    MATMUL(CUBLASLT_MATMUL_DESC_FILL_MODE, fill),
    MATMUL(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue),
    MATMUL(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias),
    MATMUL(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, bias_batch_stride),
    MATMUL(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux),
    MATMUL(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, aux_leading),
    MATMUL(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, aux_batch_stride),
    MATMUL(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, alpha_batch_stride),
    MATMUL(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, sm_count_target),
    MATMUL(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, a_scale),
    MATMUL(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, b_scale),
    MATMUL(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, c_scale),
    MATMUL(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, d_scale),
    MATMUL(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, amax_d),
    MATMUL(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, aux_type),
    MATMUL(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, aux_scale),
    MATMUL(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, aux_amax),
    MATMUL(CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast_accumulation),
    MATMUL(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, bias_type),
    MATMUL(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, a_scale_mode),
    MATMUL(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, b_scale_mode),
    MATMUL(CUBLASLT_MATMUL_DESC_C_SCALE_MODE, c_scale_mode),
    MATMUL(CUBLASLT_MATMUL_DESC_D_SCALE_MODE, d_scale_mode),
    MATMUL(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, aux_scale_mode),
};

#define TRANSFORM(attribute, member)                                                                         \
  {attribute, offsetof(TransformDescription, member), sizeof(TransformDescription::member)}
constexpr Field transform_fields[] = {
    TRANSFORM(CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, scale_type),
    TRANSFORM(CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, pointer_mode),
    TRANSFORM(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, a_operation),
    TRANSFORM(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, b_operation),
};

template <std::size_t n> const Field* field_of(const Field (&fields)[n], int attribute) {
  for (const Field& field : fields)
    if (field.attribute == attribute)
      return &field;
  return nullptr;
}

template <std::size_t n>
cublasStatus_t set(const Field (&fields)[n], void* contents, int attribute, const void* value,
                   std::size_t bytes) {
  const Field* const field = field_of(fields, attribute);
  if (!contents || !value || !field || bytes != field->bytes)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(static_cast<char*>(contents) + field->offset, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <std::size_t n>
cublasStatus_t get(const Field (&fields)[n], const void* contents, int attribute, void* value,
                   std::size_t bytes, std::size_t* written) {
  const Field* const field = field_of(fields, attribute);
  if (!contents || !field || (bytes == 0 ? !written : !value || bytes != field->bytes))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (bytes != 0)
    std::memcpy(value, static_cast<const char*>(contents) + field->offset, bytes);
  if (written)
    *written = field->bytes;
  return CUBLAS_STATUS_SUCCESS;
}

template <class T> cublasStatus_t destroy(T* made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}

/// Preferences and the like are hints, which have no effect.
template <class T> cublasStatus_t create_empty(T** made) {
  if (!made)
    return CUBLAS_STATUS_INVALID_VALUE;
  *made = new T{};
  return CUBLAS_STATUS_SUCCESS;
}

} // namespace

struct cublasLtContext {};

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return create_empty(handle);
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return handle ? destroy(handle) : CUBLAS_STATUS_NOT_INITIALIZED;
}
std::size_t cublasLtGetVersion() {
  return CUBLAS_VERSION;
}
std::size_t cublasLtGetCudartVersion() {
  return CUDART_VERSION;
}
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  return cublasGetProperty(type, value);
}
const char* cublasLtGetStatusName(cublasStatus_t status) {
  return cublasGetStatusName(status);
}
const char* cublasLtGetStatusString(cublasStatus_t status) {
  return cublasGetStatusString(status);
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, std::size_t bytes,
                                                 cudaDataType type, std::uint64_t rows, std::uint64_t columns,
                                                 std::int64_t leading) {
  if (!layout || bytes < sizeof *layout)
    return CUBLAS_STATUS_INVALID_VALUE;
  *layout = {};
  new (layout->data) MatrixLayout{.type = type,
                                  .order = CUBLASLT_ORDER_COL,
                                  .rows = rows,
                                  .columns = columns,
                                  .leading = leading,
                                  .batch_count = 1};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
  const cublasStatus_t status = create_empty(layout);
  return status != CUBLAS_STATUS_SUCCESS
             ? status
             : cublasLtMatrixLayoutInit_internal(*layout, sizeof **layout, type, rows, columns, leading);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy(layout);
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                std::size_t bytes) {
  return set(layout_fields, layout, attribute, value, bytes);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, void* value,
                                                std::size_t bytes, std::size_t* written) {
  return get(layout_fields, layout, attribute, value, bytes, written);
}

cublasStatus_t cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t description,
                                                        std::size_t bytes, cudaDataType scale_type) {
  if (!description || bytes < sizeof *description)
    return CUBLAS_STATUS_INVALID_VALUE;
  *description = {};
  new (description->data) TransformDescription{.scale_type = scale_type};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t* description,
                                                 cudaDataType scale_type) {
  const cublasStatus_t status = create_empty(description);
  return status != CUBLAS_STATUS_SUCCESS
             ? status
             : cublasLtMatrixTransformDescInit_internal(*description, sizeof **description, scale_type);
}
cublasStatus_t cublasLtMatrixTransformDescDestroy(cublasLtMatrixTransformDesc_t description) {
  return destroy(description);
}
cublasStatus_t cublasLtMatrixTransformDescSetAttribute(cublasLtMatrixTransformDesc_t description,
                                                       cublasLtMatrixTransformDescAttributes_t attribute,
                                                       const void* value, std::size_t bytes) {
  return set(transform_fields, description, attribute, value, bytes);
}
cublasStatus_t cublasLtMatrixTransformDescGetAttribute(cublasLtMatrixTransformDesc_t description,
                                                       cublasLtMatrixTransformDescAttributes_t attribute,
                                                       void* value, std::size_t bytes, std::size_t* written) {
  return get(transform_fields, description, attribute, value, bytes, written);
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t description, std::size_t bytes,
                                               cublasComputeType_t compute, cudaDataType scale_type) {
  if (!description || bytes < sizeof *description)
    return CUBLAS_STATUS_INVALID_VALUE;
  *description = {};
  new (description->data) MatmulDescription{.compute = compute,
                                            .scale_type = scale_type,
                                            .fill = CUBLAS_FILL_MODE_FULL,
                                            .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
                                            .aux_type = -1,
                                            .bias_type = -1};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t compute,
                                        cudaDataType scale_type) {
  const cublasStatus_t status = create_empty(description);
  return status != CUBLAS_STATUS_SUCCESS
             ? status
             : cublasLtMatmulDescInit_internal(*description, sizeof **description, compute, scale_type);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  return destroy(description);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute, const void* value,
                                              std::size_t bytes) {
  return set(matmul_fields, description, attribute, value, bytes);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute, void* value,
                                              std::size_t bytes, std::size_t* written) {
  return get(matmul_fields, description, attribute, value, bytes, written);
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, std::size_t) {
  if (!preference)
    return CUBLAS_STATUS_INVALID_VALUE;
  *preference = {};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create_empty(preference);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy(preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t, const void* value,
                                                    std::size_t) {
  return preference && value ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerSetFile(FILE*) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerOpenFile(const char*) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerSetLevel(int) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerSetMask(int) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerForceDisable() {
  return CUBLAS_STATUS_SUCCESS;
}

} // extern "C"
