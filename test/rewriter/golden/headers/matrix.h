#pragma once
#include "plain.h"

template <class T> struct Matrix {
  T* cells;
  int width;
  __host__ __device__ T& at(int row, int column) { return cells[row * width + column]; }
  __device__ T trace() const {
    T sum = 0;
    for (int i = 0; i < width; ++i)
      sum += cells[offset(i, i, width)];
    return sum;
  }
};
template <class T, int N> struct Small {
  T values[N];
  __device__ T& operator[](int i) { return values[i]; }
};
