// Fast Fourier transform of complex numbers, radix 2, by Stockham's passes: each reads all of memory at two
// places half the array apart and writes pairs whose distance doubles from pass to pass.
#include "program.h"

#include <complex>

constexpr unsigned threads = 256;

__global__ void fft_pass(unsigned half, unsigned stride, const float2* in, float2* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned within = i & (stride - 1);
  const float2 first = in[i], second = in[i + half];
  // Twiddle factor: -pi * (i / stride) / (half / stride).
  float sine, cosine;
  sincospif(-static_cast<float>(i - within) / static_cast<float>(half), &sine, &cosine);
  const float2 difference = make_float2(first.x - second.x, first.y - second.y);
  const unsigned place = 2 * i - within;
  out[place] = make_float2(first.x + second.x, first.y + second.y);
  out[place + stride] =
      make_float2(difference.x * cosine - difference.y * sine, difference.x * sine + difference.y * cosine);
}

int main(int argc, char** argv) {
  reference::Program program(argc, argv, 2 * threads, 1 << 24);
  const unsigned size = program.size(), half = size / 2;
  reference::Random random(3);
  std::vector<float2> signal(size);
  for (float2& value : signal)
    value = make_float2(random.fraction() - 0.5f, random.fraction() - 0.5f);
  const reference::Array<float2> first(signal), second(size);

  float2 *in = first.data(), *out = second.data();
  for (unsigned stride = 1; stride < size; stride *= 2) {
    const auto pass = [&] { fft_pass<<<half / threads, threads>>>(half, stride, in, out); };
    if (stride == 1) // later passes read what this one no longer needs
      program.measure("fft_pass", pass);
    else
      program.run("fft_pass", pass);
    std::swap(in, out);
  }

  // The transform is linear and keeps energy; single frequencies are summed up directly.
  const auto result = in == first.data() ? first.values() : second.values();
  double energy_in = 0, energy_out = 0;
  for (unsigned i = 0; i < size; ++i) {
    energy_in +=
        static_cast<double>(signal[i].x) * signal[i].x + static_cast<double>(signal[i].y) * signal[i].y;
    energy_out +=
        static_cast<double>(result[i].x) * result[i].x + static_cast<double>(result[i].y) * result[i].y;
  }
  bool right = std::abs(energy_out / size / energy_in - 1) < 1e-4;
  for (unsigned sample = 0; sample < 16; ++sample) {
    const unsigned frequency = random.below(size);
    std::complex<double> expected = 0;
    for (unsigned i = 0; i < size; ++i) {
      const double turn = static_cast<double>(std::uint64_t{i} * frequency % size) / size;
      expected += std::complex<double>(signal[i].x, signal[i].y) *
                  std::polar(1.0, -2 * 3.14159265358979323846 * turn);
    }
    right &= std::abs(expected - std::complex<double>(result[frequency].x, result[frequency].y)) <
             1e-4 * std::sqrt(energy_in) * 4;
  }
  program.judge("fft_pass", right);
  return program.exit_code();
}
