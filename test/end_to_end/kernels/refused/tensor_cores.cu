// flags: -arch=sm_80
// says: tensor cores
#include <mma.h>

using namespace nvcuda;

__global__ void multiply(const signed char* a, const signed char* b, int* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
  wmma::fill_fragment(sum, 0);
  wmma::load_matrix_sync(left, a, 16); // refused
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main() {
  multiply<<<1, 32>>>(nullptr, nullptr, nullptr);
}
