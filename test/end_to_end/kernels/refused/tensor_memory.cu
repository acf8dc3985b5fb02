// flags: -arch=sm_100a
// says: tcgen05.alloc
__global__ void allocate() {
  __shared__ unsigned place;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&place));
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(to) : "memory"); // refused
}

int main() {
  allocate<<<1, 32>>>();
}
