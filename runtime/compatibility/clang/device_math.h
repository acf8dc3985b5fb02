// Device functions that Clang's headers declare and leave without a definition.
#pragma once

static __inline__ __attribute__((device)) double nan(const char* tag) {
  return __nv_nan(reinterpret_cast<const signed char*>(tag));
}
static __inline__ __attribute__((device)) float nanf(const char* tag) {
  return __nv_nanf(reinterpret_cast<const signed char*>(tag));
}
