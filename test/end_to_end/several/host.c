int twice(int x) {
  int class = 2; /* not C++ */
  return class * x;
}
