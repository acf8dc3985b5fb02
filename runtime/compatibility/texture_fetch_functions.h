// Clang 19's CUDA wrapper includes this name, which CUDA 13 no longer ships: it held the texture references
// that CUDA 12 removed. This file has no contents.
