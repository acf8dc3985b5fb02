// __cluster_dims__, an attribute that Clang 19 does not know and ignores. On the CPU back end the lowering
// refuses kernels that have it (lowering/annotations.cpp).
#pragma once

#ifdef __WARPLENS_CPU__
#undef __cluster_dims__
#define __cluster_dims__(...) __attribute__((annotate("__cluster_dims__(" #__VA_ARGS__ ")")))
#endif
