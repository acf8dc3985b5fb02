#define AT(p, i) p[i]
#define IN_PARENTHESES(p, i) (p[i])
#define PAIR(p, i) (p[i] + p[(i) + 1])
#define INCREMENT(x) x = x + 1
#define SHOW(x) show(#x, x)
#define DATA s.data
#define BOTH(x) AT(x, 0) = PAIR(x, 1)
#define SQUARE(x) ((x) * (x))
#define KERNEL(name) __global__ void name(float* out) { out[0] = 1; }
#define BODY                                                                                                           \
  {                                                                                                                    \
    out[1] = out[0];                                                                                                   \
  }
#define LOCATION __FILE__, __LINE__
#include <cassert>

struct Holder {
  float* data;
};
__device__ void show(const char*, float) {}
__device__ void locate(const char*, int, float) {}

__global__ void kernel(float* out, int i, Holder s) {
  out[i] = AT(out, 3) + IN_PARENTHESES(out, 4) + PAIR(out, i);
  INCREMENT(out[i + 1]);
  INCREMENT(AT(out, 6));
  SHOW(out[i]);
  DATA[i] = DATA[i + 1];
  BOTH(out);
  out[2] = SQUARE(out[3]) + SQUARE(AT(out, 4));
  out[5] = PAIR(out,
                i +
                    1);
  assert(out[6] > 0);
  BODY
  locate(LOCATION, out[7]);
}
KERNEL(from_macro)
int main() { kernel<<<1, 1>>>(nullptr, 0, {}); }
