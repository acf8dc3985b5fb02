// flags: -arch=sm_90
// says: memory of several GPUs
__global__ void add(float* everywhere) {
  asm volatile("multimem.red.relaxed.sys.global.add.f32 [%0], %1;" ::"l"(everywhere), "f"(1.0f)); // refused
}

int main() {
  add<<<1, 1>>>(nullptr);
}
