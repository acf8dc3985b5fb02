// cuFFT against the definition: lengths with small and large factors, batches, two dimensions of real values in place, strides, a graph.
#include <cmath>
#include <complex>
#include <cstdio>
#include <cufftXt.h>
#include <vector>

using Complex = std::complex<double>;

int wrong = 0;

void hold(const char* what, double error) {
  if (error > 1e-6) {
    std::printf("%s: off by %g\n", what, error);
    ++wrong;
  }
}

Complex root(long long power, int length) {
  return std::polar(1.0, -2 * M_PI * double(power % length) / length);
}

std::vector<Complex> by_definition(const std::vector<Complex>& values) {
  const int length = int(values.size());
  std::vector<Complex> result(values.size());
  for (int k = 0; k < length; ++k)
    for (int j = 0; j < length; ++j)
      result[k] += values[j] * root(static_cast<long long>(j) * k, length);
  return result;
}

double value(int i) {
  return std::sin(i * 0.7) + i % 5;
}

void lengths() {
  for (int length : {1, 2, 3, 8, 12, 30, 31, 37, 97, 128, 1001}) {
    cufftHandle plan;
    cufftPlan1d(&plan, length, CUFFT_Z2Z, 2);
    cufftDoubleComplex* data;
    cudaMallocManaged(&data, 2 * length * sizeof *data);
    std::vector<Complex> batches[2];
    for (int i = 0; i < 2 * length; ++i) {
      batches[i / length].push_back({value(i), value(3 * i)});
      data[i] = {value(i), value(3 * i)};
    }
    cufftExecZ2Z(plan, data, data, CUFFT_FORWARD);
    cudaDeviceSynchronize();
    double error = 0;
    for (int batch = 0; batch < 2; ++batch) {
      const auto expected = by_definition(batches[batch]);
      for (int i = 0; i < length; ++i)
        error = std::fmax(error, std::abs(expected[i] - Complex(data[batch * length + i].x, data[batch * length + i].y)));
    }
    cufftExecZ2Z(plan, data, data, CUFFT_INVERSE);
    cudaDeviceSynchronize();
    for (int i = 0; i < 2 * length; ++i)
      error = std::fmax(error, std::fabs(data[i].x / length - value(i)));
    hold("one dimension", error);
    cufftDestroy(plan);
  }
}

void two_dimensions() {
  constexpr int rows = 6, columns = 10, half = columns / 2 + 1;
  cufftHandle forward, back;
  cufftPlan2d(&forward, rows, columns, CUFFT_D2Z);
  cufftPlan2d(&back, rows, columns, CUFFT_Z2D);
  double* data;
  cudaMallocManaged(&data, rows * half * sizeof(cufftDoubleComplex));
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      data[row * 2 * half + column] = value(row * columns + column);
  auto* spectrum = reinterpret_cast<cufftDoubleComplex*>(data);
  cufftExecD2Z(forward, data, spectrum);
  cudaDeviceSynchronize();
  double error = 0;
  for (int u = 0; u < rows; ++u)
    for (int v = 0; v < half; ++v) {
      Complex sum;
      for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
          sum += value(row * columns + column) * root(u * row, rows) * root(v * column, columns);
      error = std::fmax(error, std::abs(sum - Complex(spectrum[u * half + v].x, spectrum[u * half + v].y)));
    }
  cufftExecZ2D(back, spectrum, data);
  cudaDeviceSynchronize();
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      error = std::fmax(error, std::fabs(data[row * 2 * half + column] / (rows * columns) - value(row * columns + column)));
  hold("two dimensions in place", error);
}

/// The columns of a matrix are transformed: neighbours of one are a row apart, and the next column is beside it.
void strides_in_a_graph() {
  int length = 8;
  const int columns = 3;
  cufftHandle plan;
  cufftPlanMany(&plan, 1, &length, &length, columns, 1, &length, columns, 1, CUFFT_C2C, columns);
  cufftComplex* data;
  cudaMallocManaged(&data, length * columns * sizeof *data);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cufftSetStream(plan, stream);
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cufftExecC2C(plan, data, data, CUFFT_FORWARD);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < length * columns; ++i)
    data[i] = {float(value(i)), 0};
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  double error = 0;
  for (int column = 0; column < columns; ++column) {
    std::vector<Complex> values;
    for (int i = 0; i < length; ++i)
      values.push_back(float(value(i * columns + column)));
    const auto expected = by_definition(values);
    for (int i = 0; i < length; ++i)
      error = std::fmax(error, std::abs(expected[i] - Complex(data[i * columns + column].x, data[i * columns + column].y)));
  }
  hold("columns", error < 1e-5 ? 0 : error);
}

/// cufftXtExec's direction does not count for real values.
void any_direction() {
  cufftHandle plan;
  cufftPlan1d(&plan, 4, CUFFT_Z2D, 1);
  double* values;
  cudaMallocManaged(&values, 3 * sizeof(cufftDoubleComplex));
  auto* spectrum = reinterpret_cast<cufftDoubleComplex*>(values);
  spectrum[0] = {10, 0}, spectrum[1] = {-2, 2}, spectrum[2] = {-2, 0};
  hold("cufftXtExec", cufftXtExec(plan, spectrum, values, CUFFT_FORWARD) == CUFFT_SUCCESS ? 0 : 1);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; ++i)
    hold("real values of a spectrum", std::fabs(values[i] / 4 - (i + 1)));
}

int main() {
  any_direction();
  lengths();
  two_dimensions();
  strides_in_a_graph();
  cufftHandle none = 999;
  if (cufftExecC2C(none, nullptr, nullptr, CUFFT_FORWARD) != CUFFT_INVALID_PLAN || cufftPlan1d(&none, 0, CUFFT_C2C, 1) != CUFFT_INVALID_SIZE)
    std::printf("errors are not reported\n"), ++wrong;
  if (wrong == 0)
    std::printf("all right\n");
  return wrong != 0;
}
