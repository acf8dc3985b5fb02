/* C of long ago, which compilers of C99 and later need not take. */
static count;
int twice(x) {
  count += abs(x);
  int class = 2; /* not C++ */
  return class * x;
}
