#pragma once

/// Computes y += a * x on the device; returns 0, or CUDA's error.
int saxpy(float a, const float* x, float* y, int count);

/// Stores the sum of y in *result, on the device; returns 0, or CUDA's error.
int sum(const float* y, float* result, int count);
