#include <cudnn.h>

int main() {
  cudnnHandle_t handle;
  return cudnnCreate(&handle);
}
