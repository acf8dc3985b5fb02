#pragma once
inline int only_on_the_host(const int* p) {
  return p[0];
}
