// `#define UNROLL #pragma unroll` is read as `#define UNROLL __WL_P(unroll)` (analysis/respelled_files).
#pragma once

#define WARPLENS_PRAGMA(text) _Pragma(#text)
#define __WL_P(...) WARPLENS_PRAGMA(__VA_ARGS__)
