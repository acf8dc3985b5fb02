// flags: -arch=sm_90
// says: __cluster_dims__(2, 1, 1)
__global__ void __cluster_dims__(2, 1, 1) in_pairs(int* out) { // refused
  *out = 1;
}

int main() {
  in_pairs<<<2, 32>>>(nullptr);
}
