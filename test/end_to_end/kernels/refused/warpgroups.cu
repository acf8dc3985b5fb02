// flags: -arch=sm_90a
// says: wgmma.fence.sync.aligned (tensor cores of sm_90a
__global__ void fence() {
  asm volatile("wgmma.fence.sync.aligned;"); // refused
}

int main() {
  fence<<<1, 128>>>();
}
