#pragma once

/// y += a * x, on the device. 0, or CUDA's error.
int saxpy(float a, const float* x, float* y, int count);

/// The sum of y, on the device. 0, or CUDA's error.
int sum(const float* y, float* result, int count);
