// flags: -arch=sm_100a
// says: tcgen05.shift
__global__ void shift() {
  asm volatile("tcgen05.shift.cta_group::1.down [%0];" ::"r"(0) : "memory"); // refused
}

int main() {
  shift<<<1, 32>>>();
}
