// flags: -arch=sm_80
// says: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
__global__ void multiply(float* c, const unsigned* ab) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, " // refused
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(ab[0]), "r"(ab[1]), "r"(ab[2]), "r"(ab[3]), "r"(ab[4]), "r"(ab[5]));
}

int main() {
  multiply<<<1, 32>>>(nullptr, nullptr);
}
