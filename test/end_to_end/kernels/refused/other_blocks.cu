// flags: -arch=sm_90
// says: memory of other blocks of a cluster
__global__ void store(unsigned to, unsigned barrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), // refused
               "r"(1), "r"(barrier));
}

int main() {
  store<<<1, 1>>>(0, 0);
}
