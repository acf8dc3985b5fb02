// Thrust's sort of one type: CUB's radix sort with all that it may launch.
#include <thrust/device_vector.h>
#include <thrust/sort.h>

int main() {
  thrust::device_vector<int> numbers(1000);
  for (int i = 0; i < 1000; ++i)
    numbers[i] = i * 7919 % 1000;
  thrust::sort(numbers.begin(), numbers.end());
  return numbers[500] != 500;
}
