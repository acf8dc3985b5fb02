// flags: -arch=sm_80 -rdc=true
// says: dynamic parallelism
__global__ void child(int* out) {
  *out = 1;
}

__global__ void parent(int* out) {
  child<<<1, 1>>>(out); // refused
}

int main() {
  parent<<<1, 1>>>(nullptr);
}
