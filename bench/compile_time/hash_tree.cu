// A hash of many rounds over a state in memory, called from many sites: inlined in all of them it would have
// millions of instructions.
struct State {
  unsigned long long words[12];
};

__device__ unsigned long long multiply(unsigned long long a, unsigned long long b) {
  constexpr unsigned long long modulus = 0xffffffff00000001ull;
  const unsigned long long low = a * b, high = __umul64hi(a, b);
  const unsigned long long middle = high & 0xffffffffu, top = high >> 32;
  unsigned long long difference = low - top;
  if (low < top)
    difference -= 0xffffffffu;
  const unsigned long long rest = (middle << 32) - middle, sum = difference + rest;
  return sum < difference ? sum + 0xffffffffu : sum % modulus;
}

__device__ void multiply(const unsigned long long* a, const unsigned long long* b,
                         unsigned long long* result) {
  for (int i = 0; i < 12; i += 4) {
    result[i] = multiply(a[i], b[i]);
    result[i + 1] = multiply(a[i + 1], b[i + 1]);
    result[i + 2] = multiply(a[i + 2], b[i + 2]);
    result[i + 3] = multiply(a[i + 3], b[i + 3]);
  }
}

__device__ unsigned long long sum(const unsigned long long* a) {
  return multiply(a[0] + a[1], a[2] + a[3]) + multiply(a[4] + a[5], a[6] + a[7]) +
         multiply(a[8] + a[9], a[10] + a[11]);
}

__device__ void mix(const unsigned long long* matrix, State& state) {
  State product, result;
  multiply(state.words, matrix, product.words);
  result.words[0] = sum(product.words);
  multiply(state.words, matrix + 12, product.words);
  result.words[1] = sum(product.words);
  multiply(state.words, matrix + 24, product.words);
  result.words[2] = sum(product.words);
  multiply(state.words, matrix + 36, product.words);
  result.words[3] = sum(product.words);
  multiply(state.words, matrix + 48, product.words);
  result.words[4] = sum(product.words);
  multiply(state.words, matrix + 60, product.words);
  result.words[5] = sum(product.words);
  multiply(state.words, matrix + 72, product.words);
  result.words[6] = sum(product.words);
  multiply(state.words, matrix + 84, product.words);
  result.words[7] = sum(product.words);
  for (int i = 8; i < 12; ++i)
    result.words[i] = state.words[i] ^ result.words[i - 8];
  state = result;
}

__device__ void power(State& state) {
  State square, fourth;
  multiply(state.words, state.words, square.words);
  multiply(square.words, square.words, fourth.words);
  for (int i = 0; i < 10; ++i)
    multiply(fourth.words, square.words, square.words);
  multiply(fourth.words, square.words, state.words);
}

__device__ void round(const unsigned long long* matrix, State& state) {
  power(state);
  mix(matrix, state);
  power(state);
  mix(matrix + 96, state);
}

__device__ void permute(const unsigned long long* matrix, State& state) {
  round(matrix, state);
  round(matrix + 1, state);
  round(matrix + 2, state);
  round(matrix + 3, state);
  round(matrix + 4, state);
  round(matrix + 5, state);
  round(matrix + 6, state);
}

__global__ void leaves(const unsigned long long* in, const unsigned long long* matrix,
                       unsigned long long* out) {
  State state{};
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < 8; ++i)
    state.words[i] = in[t * 8 + i];
  permute(matrix, state);
  out[t] = state.words[0];
}

__global__ void nodes(const unsigned long long* in, const unsigned long long* matrix,
                      unsigned long long* out) {
  State left{}, right{};
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  left.words[0] = in[2 * t];
  right.words[0] = in[2 * t + 1];
  permute(matrix, left);
  permute(matrix, right);
  multiply(left.words, right.words, left.words);
  permute(matrix, left);
  out[t] = left.words[0];
}

int main() {}
