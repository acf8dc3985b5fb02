// flags: -arch=sm_80 -std=c++17 -lcusolver
// gpu: a100
// cuSOLVER: factorizations and what they solve, eigenvalues and singular values, with types as arguments, too.
#include "../expect.h"
#include <algorithm>
#include <cmath>
#include <complex>
#include <cusolverDn.h>

constexpr int n = 5;
using Matrix = std::vector<double>; // by column

/// Returns the largest element of A · X - B for `columns` columns.
double residual(const Matrix& a, const Matrix& x, const Matrix& b, int columns) {
  double most = 0;
  for (int column = 0; column < columns; ++column)
    for (int row = 0; row < n; ++row) {
      double sum = -b[column * n + row];
      for (int k = 0; k < n; ++k)
        sum += a[k * n + row] * x[column * n + k];
      most = std::max(most, std::fabs(sum));
    }
  return most;
}
template <class Size, class Call> double* workspace(Call call) {
  Size size = 0;
  EXPECT(call(&size) == CUSOLVER_STATUS_SUCCESS);
  double* work;
  cudaMalloc(&work, size * sizeof(double));
  return work;
}

int main() {
  cusolverDnHandle_t handle;
  EXPECT(cusolverDnCreate(&handle) == CUSOLVER_STATUS_SUCCESS);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  EXPECT(cusolverDnSetStream(handle, stream) == CUSOLVER_STATUS_SUCCESS);
  Matrix symmetric(n * n), any(n * n), b(2 * n);
  for (int i = 0; i < n * n; ++i) {
    any[i] = (i * 7 + 3) % 11 - 4;
    symmetric[i] = i / n == i % n ? 9 + i % n : 1.0 / (1 + i / n + i % n);
  }
  for (int i = 0; i < 2 * n; ++i)
    b[i] = i - 3.5;
  const auto lower = CUBLAS_FILL_MODE_LOWER;
  int *info, *pivots;
  cudaMalloc(&info, sizeof *info);
  cudaMalloc(&pivots, n * sizeof *pivots);
  const auto succeeded = [&](cusolverStatus_t status) {
    return status == CUSOLVER_STATUS_SUCCESS && cudaStreamSynchronize(stream) == cudaSuccess && host(info, 1)[0] == 0;
  };

  auto *a = device(symmetric), *x = device(b);
  double* work = workspace<int>([&](int* size) { return cusolverDnDpotrf_bufferSize(handle, lower, n, a, n, size); });
  EXPECT(succeeded(cusolverDnDpotrf(handle, lower, n, a, n, work, 1, info)));
  EXPECT(succeeded(cusolverDnDpotrs(handle, lower, n, 2, a, n, x, n, info)));
  EXPECT(residual(symmetric, host(x, 2 * n), b, 2) < 1e-12);
  Matrix indefinite = symmetric;
  indefinite[2 * n + 2] = -1;
  EXPECT(cusolverDnDpotrf(handle, lower, n, device(indefinite), n, work, 1, info) == CUSOLVER_STATUS_SUCCESS);
  EXPECT(host(info, 1)[0] == 3);

  a = device(any), x = device(b);
  EXPECT(succeeded(cusolverDnDgetrf(handle, n, n, a, n, work, pivots, info)));
  EXPECT(succeeded(cusolverDnDgetrs(handle, CUBLAS_OP_N, n, 2, a, n, pivots, x, n, info)));
  EXPECT(residual(any, host(x, 2 * n), b, 2) < 1e-10);
  a = device(symmetric), x = device(b); // without pivots
  EXPECT(succeeded(cusolverDnDgetrf(handle, n, n, a, n, work, nullptr, info)));
  EXPECT(succeeded(cusolverDnDgetrs(handle, CUBLAS_OP_N, n, 2, a, n, nullptr, x, n, info)));
  EXPECT(residual(symmetric, host(x, 2 * n), b, 2) < 1e-12);

  a = device(any), x = device(b); // Q · R · x = b by Qᵀ and back substitution
  auto* tau = device(Matrix(n));
  EXPECT(succeeded(cusolverDnDgeqrf(handle, n, n, a, n, tau, work, 1, info)));
  EXPECT(succeeded(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, n, 1, n, a, n, tau, x, n, work, 1, info)));
  const Matrix r = host(a, n * n);
  Matrix solution = host(x, n);
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k)
      solution[i] -= r[k * n + i] * solution[k];
    solution[i] /= r[i * n + i];
  }
  EXPECT(residual(any, solution, b, 1) < 1e-10);

  auto* values = device(Matrix(n));
  a = device(symmetric);
  EXPECT(succeeded(cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_VECTOR, lower, n, a, n, values, work, 1, info)));
  const Matrix lambda = host(values, n), vectors = host(a, n * n);
  Matrix scaled = vectors;
  for (int i = 0; i < n * n; ++i)
    scaled[i] *= lambda[i / n];
  EXPECT(residual(symmetric, vectors, scaled, n) < 1e-12 && std::is_sorted(lambda.begin(), lambda.end()));
  syevjInfo_t jacobi;
  EXPECT(cusolverDnCreateSyevjInfo(&jacobi) == CUSOLVER_STATUS_SUCCESS);
  a = device(symmetric);
  EXPECT(succeeded(cusolverDnDsyevj(handle, CUSOLVER_EIG_MODE_NOVECTOR, lower, n, a, n, values, work, 1, info, jacobi)));
  EXPECT(std::fabs(host(values, n)[4] - lambda[4]) < 1e-12);

  const auto product_is_any = [&](const Matrix& u, const Matrix& s, const Matrix& vt) {
    double most = 0;
    for (int i = 0; i < n * n; ++i) {
      double sum = -any[i];
      for (int k = 0; k < n; ++k)
        sum += u[k * n + i % n] * s[k] * vt[i / n * n + k];
      most = std::max(most, std::fabs(sum));
    }
    return most < 1e-12;
  };
  auto *u = device(Matrix(n * n)), *v = device(Matrix(n * n));
  a = device(any);
  EXPECT(succeeded(cusolverDnDgesvd(handle, 'A', 'A', n, n, a, n, values, u, n, v, n, work, 1, nullptr, info)));
  EXPECT(product_is_any(host(u, n * n), host(values, n), host(v, n * n)));
  gesvdjInfo_t of_gesvdj;
  EXPECT(cusolverDnCreateGesvdjInfo(&of_gesvdj) == CUSOLVER_STATUS_SUCCESS);
  a = device(any);
  EXPECT(succeeded(cusolverDnDgesvdj(handle, CUSOLVER_EIG_MODE_VECTOR, 0, n, n, a, n, values, u, n, v, n, work, 1, info, of_gesvdj)));
  Matrix transposed = host(v, n * n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < i; ++k)
      std::swap(transposed[i * n + k], transposed[k * n + i]);
  EXPECT(product_is_any(host(u, n * n), host(values, n), transposed));

  using Complex = std::complex<float>;
  std::vector<Complex> hermitian{{2, 0}, {0, 1}, {0, -1}, {2, 0}};
  auto* h = device(hermitian);
  float* of_hermitian;
  cudaMalloc(&of_hermitian, 2 * sizeof(float));
  EXPECT(succeeded(cusolverDnCheevd(handle, CUSOLVER_EIG_MODE_NOVECTOR, lower, 2, reinterpret_cast<cuComplex*>(h), 2, of_hermitian, reinterpret_cast<cuComplex*>(work), 1, info)));
  EXPECT(std::fabs(host(of_hermitian, 2)[0] - 1) < 1e-6f && std::fabs(host(of_hermitian, 2)[1] - 3) < 1e-6f);

  cusolverDnParams_t params;
  EXPECT(cusolverDnCreateParams(&params) == CUSOLVER_STATUS_SUCCESS);
  std::size_t on_device, on_host;
  a = device(any), x = device(b);
  EXPECT(cusolverDnXgetrf_bufferSize(handle, params, n, n, CUDA_R_64F, a, n, CUDA_R_64F, &on_device, &on_host) == CUSOLVER_STATUS_SUCCESS);
  std::vector<char> buffer(on_host);
  auto* long_pivots = device(std::vector<int64_t>(n));
  EXPECT(succeeded(cusolverDnXgetrf(handle, params, n, n, CUDA_R_64F, a, n, long_pivots, CUDA_R_64F, work, on_device, buffer.data(), on_host, info)));
  EXPECT(succeeded(cusolverDnXgetrs(handle, params, CUBLAS_OP_N, n, 2, CUDA_R_64F, a, n, long_pivots, CUDA_R_64F, x, n, info)));
  EXPECT(residual(any, host(x, 2 * n), b, 2) < 1e-10);
  Matrix rotation(n * n); // by an angle: eigenvalues on the unit circle
  for (int i = 0; i < n; ++i)
    rotation[i * n + i] = 1;
  rotation[0] = rotation[n + 1] = 0, rotation[1] = 1, rotation[n] = -1;
  auto* complex_values = device(std::vector<std::complex<double>>(n));
  EXPECT(succeeded(cusolverDnXgeev(handle, params, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_NOVECTOR, n, CUDA_R_64F, device(rotation), n, CUDA_C_64F, complex_values, CUDA_R_64F, nullptr, n, CUDA_R_64F, nullptr, n, CUDA_C_64F, work, 1, buffer.data(), on_host, info)));
  const auto on_circle = host(complex_values, n);
  EXPECT(std::abs(on_circle[0] * on_circle[1] - 1.0) < 1e-12 && std::fabs(std::abs(on_circle[0].imag()) - 1) < 1e-12 && on_circle[4] == 1.0);
  EXPECT(cusolverDnDestroy(handle) == CUSOLVER_STATUS_SUCCESS);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
