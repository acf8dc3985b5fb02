// cuSPARSE's products in three formats, and NCCL on one device.
#include "expect.h"

#include <cstdio>
#include <cuda_runtime.h>
#include <cusparse.h>
#include <nccl.h>
#include <vector>

int main() {
  // (1 0 2; 0 3 0), as CSR, CSC and COO.
  float* values = device(std::vector<float>{1, 2, 3});
  int *columns = device(std::vector<int>{0, 2, 1}), *offsets = device(std::vector<int>{0, 2, 3}), *rows = device(std::vector<int>{0, 0, 1});
  float* by_columns = device(std::vector<float>{1, 3, 2});
  int *column_offsets = device(std::vector<int>{0, 1, 2, 3}), *column_rows = device(std::vector<int>{0, 1, 0});
  cusparseHandle_t handle;
  EXPECT(cusparseCreate(&handle) == CUSPARSE_STATUS_SUCCESS);
  cusparseSpMatDescr_t matrices[3];
  EXPECT(cusparseCreateCsr(&matrices[0], 2, 3, 3, offsets, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                           CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(cusparseCreateCsc(&matrices[1], 2, 3, 3, column_offsets, column_rows, by_columns, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS);
  EXPECT(cusparseCreateCoo(&matrices[2], 2, 3, 3, rows, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F) ==
         CUSPARSE_STATUS_SUCCESS);
  float *x = device(std::vector<float>{1, 10, 100}), *y = device(std::vector<float>{5, 5});
  cusparseDnVecDescr_t of_x, of_y;
  cusparseCreateDnVec(&of_x, 3, x, CUDA_R_32F);
  cusparseCreateDnVec(&of_y, 2, y, CUDA_R_32F);
  float alpha = 2, beta = 1;
  for (int i = 0; i < 3; ++i) {
    std::size_t bytes = 1;
    EXPECT(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrices[i], of_x, &beta, of_y, CUDA_R_32F,
                                   CUSPARSE_SPMV_ALG_DEFAULT, &bytes) == CUSPARSE_STATUS_SUCCESS);
    EXPECT(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrices[i], of_x, &beta, of_y, CUDA_R_32F,
                        CUSPARSE_SPMV_ALG_DEFAULT, nullptr) == CUSPARSE_STATUS_SUCCESS);
    const auto got = host(y, 2);
    EXPECT(got[0] == 5 + (i + 1) * 402 && got[1] == 5 + (i + 1) * 60);
  }
  EXPECT(cusparseSpMV(handle, CUSPARSE_OPERATION_TRANSPOSE, &alpha, matrices[0], of_x, &beta, of_y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                      nullptr) == CUSPARSE_STATUS_INVALID_VALUE);
  cusparseDnMatDescr_t b, c;
  float* product = device(std::vector<float>(4));
  cusparseCreateDnMat(&b, 3, 2, 2, device(std::vector<float>{1, 2, 3, 4, 5, 6}), CUDA_R_32F, CUSPARSE_ORDER_ROW);
  cusparseCreateDnMat(&c, 2, 2, 2, product, CUDA_R_32F, CUSPARSE_ORDER_COL);
  alpha = 1, beta = 0;
  EXPECT(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrices[0], b, &beta, c, CUDA_R_32F,
                      CUSPARSE_SPMM_ALG_DEFAULT, nullptr) == CUSPARSE_STATUS_SUCCESS);
  EXPECT((host(product, 4) == std::vector<float>{11, 9, 14, 12}));

  ncclComm_t communicator;
  EXPECT(ncclCommInitAll(&communicator, 1, nullptr) == ncclSuccess);
  EXPECT(ncclAllReduce(x, y, 2, ncclFloat, ncclSum, communicator, 0) == ncclSuccess);
  EXPECT((host(y, 2) == std::vector<float>{1, 10}));
  ncclCommDestroy(communicator);
  if (!wrong)
    std::puts("all right");
  return wrong;
}
