// The factorizations and solutions behind cuSOLVER's functions of dense matrices, column by column in memory.
// Each returns LAPACK's info: 0, -i for an illegal i-th argument, or i for what failed at row i.
#pragma once

#include "runtime/cpu/libraries/cusolver/lapack.h"

#include <cublas_v2.h>
#include <numeric>

namespace warplens::libraries::dense {

inline char letter(cublasFillMode_t fill) {
  return fill == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U';
}
inline char letter(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N ? 'N' : operation == CUBLAS_OP_T ? 'T' : 'C';
}
inline char letter(cublasSideMode_t side) {
  return side == CUBLAS_SIDE_LEFT ? 'L' : 'R';
}

// ---- Cholesky's factorization

template <class T> int potrf(char fill, int n, T* a, int lda) {
  int info = 0;
  lapack<T>("potrf", fill, n, a, lda, &info);
  return info;
}
template <class T> int potrs(char fill, int n, int columns, const T* a, int lda, T* b, int ldb) {
  int info = 0;
  lapack<T>("potrs", fill, n, columns, a, lda, b, ldb, &info);
  return info;
}
template <class T> int potri(char fill, int n, T* a, int lda) {
  int info = 0;
  lapack<T>("potri", fill, n, a, lda, &info);
  return info;
}
template <class T> int trtri(char fill, char diagonal, int n, T* a, int lda) {
  int info = 0;
  lapack<T>("trtri", fill, diagonal, n, a, lda, &info);
  return info;
}

// ---- LU, and that of symmetric matrices

/// Without places for pivots, rows are not exchanged.
template <class T> int getrf(int m, int n, T* a, int lda, int* pivots) {
  int info = 0;
  if (pivots) {
    lapack<T>("getrf", m, n, a, lda, pivots, &info);
    return info;
  }
  const auto at = [&](int row, int column) -> T& { return a[row + std::ptrdiff_t(column) * lda]; };
  for (int k = 0; k < std::min(m, n); ++k) {
    if (at(k, k) == T(0)) {
      info = info == 0 ? k + 1 : info;
      continue;
    }
    for (int row = k + 1; row < m; ++row)
      at(row, k) /= at(k, k);
    for (int column = k + 1; column < n; ++column)
      for (int row = k + 1; row < m; ++row)
        at(row, column) -= at(row, k) * at(k, column);
  }
  return info;
}
template <class T>
int getrs(char operation, int n, int columns, const T* a, int lda, const int* pivots, T* b, int ldb) {
  std::vector<int> none(pivots ? 0 : n);
  std::iota(none.begin(), none.end(), 1);
  int info = 0;
  lapack<T>("getrs", operation, n, columns, a, lda, pivots ? pivots : none.data(), b, ldb, &info);
  return info;
}
template <class T> int sytrf(char fill, int n, T* a, int lda, int* pivots) {
  int info = 0;
  with_workspace<T>(
      [&](T* work, int size) { lapack<T>("sytrf", fill, n, a, lda, pivots, work, size, &info); });
  return info;
}
template <class T>
int sytrs(char fill, int n, int columns, const T* a, int lda, const int* pivots, T* b, int ldb) {
  int info = 0;
  lapack<T>("sytrs", fill, n, columns, a, lda, pivots, b, ldb, &info);
  return info;
}

/// Solves A · X = B; A becomes its factors, B stays.
template <class T>
int gesv(int n, int columns, T* a, int lda, int* pivots, const T* b, int ldb, T* x, int ldx) {
  for (int column = 0; column < columns; ++column)
    std::copy_n(b + std::ptrdiff_t(column) * ldb, n, x + std::ptrdiff_t(column) * ldx);
  std::vector<int> own(pivots ? 0 : n);
  int info = 0;
  lapack<T>("gesv", n, columns, a, lda, pivots ? pivots : own.data(), x, ldx, &info);
  return info;
}

// ---- QR

template <class T> int geqrf(int m, int n, T* a, int lda, T* tau) {
  int info = 0;
  with_workspace<T>([&](T* work, int size) { lapack<T>("geqrf", m, n, a, lda, tau, work, size, &info); });
  return info;
}
template <class T> int orgqr(int m, int n, int k, T* a, int lda, const T* tau) {
  int info = 0;
  with_workspace<T>([&](T* work, int size) {
    lapack<T>(is_complex<T> ? "ungqr" : "orgqr", m, n, k, a, lda, tau, work, size, &info);
  });
  return info;
}
template <class T>
int ormqr(char side, char operation, int m, int n, int k, const T* a, int lda, const T* tau, T* c, int ldc) {
  int info = 0;
  with_workspace<T>([&](T* work, int size) {
    lapack<T>(is_complex<T> ? "unmqr" : "ormqr", side, operation, m, n, k, a, lda, tau, c, ldc, work, size,
              &info);
  });
  return info;
}
/// The least squares of A · X - B, m × n with m >= n; B stays.
template <class T> int gels(int m, int n, int columns, T* a, int lda, const T* b, int ldb, T* x, int ldx) {
  std::vector<T> both(std::size_t(m) * columns);
  for (int column = 0; column < columns; ++column)
    std::copy_n(b + std::ptrdiff_t(column) * ldb, m, &both[std::size_t(column) * m]);
  int info = 0;
  with_workspace<T>([&](T* work, int size) {
    lapack<T>("gels", 'N', m, n, columns, a, lda, both.data(), m, work, size, &info);
  });
  for (int column = 0; column < columns; ++column)
    std::copy_n(&both[std::size_t(column) * m], n, x + std::ptrdiff_t(column) * ldx);
  return info;
}

// ---- eigenvalues and singular values

/// Eigenvalues of symmetric or Hermitian matrices, in ascending order; vectors take A's place with 'V'.
template <class T> int syevd(char mode, char fill, int n, T* a, int lda, Real<T>* values) {
  int info = 0;
  std::vector<Real<T>> real_work(std::max(1, 3 * n - 2));
  with_workspace<T>([&](T* work, int size) {
    if constexpr (is_complex<T>)
      lapack<T>("heev", mode, fill, n, a, lda, values, work, size, real_work.data(), &info);
    else
      lapack<T>("syev", mode, fill, n, a, lda, values, work, size, &info);
  });
  return info;
}
/// Those of A · x = λ · B · x and its like (`type`: 1 to 3).
template <class T>
int sygvd(int type, char mode, char fill, int n, T* a, int lda, T* b, int ldb, Real<T>* values) {
  int info = 0;
  std::vector<Real<T>> real_work(std::max(1, 3 * n - 2));
  with_workspace<T>([&](T* work, int size) {
    if constexpr (is_complex<T>)
      lapack<T>("hegv", type, mode, fill, n, a, lda, b, ldb, values, work, size, real_work.data(), &info);
    else
      lapack<T>("sygv", type, mode, fill, n, a, lda, b, ldb, values, work, size, &info);
  });
  return info;
}
/// Those in a range: `is_wanted(index from 1, value)`; they and their vectors come first. `count` gets how
/// many they are.
template <class T, class Wanted>
int syevdx(char mode, char fill, int n, T* a, int lda, Real<T>* values, Wanted is_wanted, int& count) {
  const int info = syevd(mode, fill, n, a, lda, values);
  count = 0;
  for (int i = 0; i < n && info == 0; ++i) {
    if (!is_wanted(i + 1, values[i]))
      continue;
    values[count] = values[i];
    if (mode == 'V')
      std::copy_n(a + std::ptrdiff_t(i) * lda, n, a + std::ptrdiff_t(count) * lda);
    ++count;
  }
  return info;
}
/// Eigenvalues of any square matrix; vectors of null are not computed.
template <class T>
int geev(int n, T* a, int lda, std::complex<Real<T>>* values, T* left, int ldl, T* right, int ldr) {
  int info = 0;
  const char of_left = left ? 'V' : 'N', of_right = right ? 'V' : 'N';
  std::vector<Real<T>> real(2 * std::size_t(n)), imaginary(n);
  with_workspace<T>([&](T* work, int size) {
    if constexpr (is_complex<T>)
      lapack<T>("geev", of_left, of_right, n, a, lda, values, left, std::max(1, ldl), right, std::max(1, ldr),
                work, size, real.data(), &info);
    else
      lapack<T>("geev", of_left, of_right, n, a, lda, real.data(), imaginary.data(), left, std::max(1, ldl),
                right, std::max(1, ldr), work, size, &info);
  });
  if constexpr (!is_complex<T>)
    for (int i = 0; i < n; ++i)
      values[i] = {real[i], imaginary[i]};
  return info;
}
template <class T>
int gesvd(char left, char right, int m, int n, T* a, int lda, Real<T>* values, T* u, int ldu, T* vt,
          int ldvt) {
  int info = 0;
  std::vector<Real<T>> real_work(5 * std::size_t(std::max(1, std::min(m, n))));
  with_workspace<T>([&](T* work, int size) {
    if constexpr (is_complex<T>)
      lapack<T>("gesvd", left, right, m, n, a, lda, values, u, std::max(1, ldu), vt, std::max(1, ldvt), work,
                size, real_work.data(), &info);
    else
      lapack<T>("gesvd", left, right, m, n, a, lda, values, u, std::max(1, ldu), vt, std::max(1, ldvt), work,
                size, &info);
  });
  return info;
}
/// As gesvd(), with V itself in place of its (conjugate) transpose; `economical`: min(m, n) columns of each.
template <class T>
int gesvd_to_v(bool wants_vectors, bool economical, int m, int n, T* a, int lda, Real<T>* values, T* u,
               int ldu, T* v, int ldv) {
  const int least = std::min(m, n), rows = economical ? least : n;
  std::vector<T> vt(wants_vectors ? std::size_t(rows) * n : 0);
  const char mode = !wants_vectors ? 'N' : economical ? 'S' : 'A';
  const int info = gesvd(mode, mode, m, n, a, lda, values, u, ldu, vt.data(), rows);
  for (int row = 0; wants_vectors && row < rows; ++row)
    for (int column = 0; column < n; ++column) {
      T& to = v[column + std::ptrdiff_t(row) * ldv];
      to = vt[row + std::size_t(column) * rows];
      if constexpr (is_complex<T>)
        to = std::conj(to);
    }
  return info;
}

} // namespace warplens::libraries::dense
