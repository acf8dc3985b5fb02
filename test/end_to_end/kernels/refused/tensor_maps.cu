// flags: -arch=sm_90
// says: tensor memory accelerator
__global__ void fetch(const void* map, unsigned to, unsigned barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, " // refused
               "%3}], [%4];"
               ::"r"(to),
               "l"(map), "r"(0), "r"(0), "r"(barrier)
               : "memory");
}

int main() {
  fetch<<<1, 1>>>(nullptr, 0, 0);
}
