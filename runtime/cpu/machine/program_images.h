// The program's textures and surfaces, for its machine code.
#pragma once

#include "machine/images.h"

namespace warplens::cpu {

class ProgramImages : public machine::Images {
public:
  bool fetch(const machine::TextureFetch& fetch, std::array<std::uint32_t, 4>& texel) const override;
  std::uint32_t texels_of(const machine::TextureFetch& fetch,
                          std::array<std::uint64_t, 8>& addresses) const override;
  machine::SurfacePlace place_of(const machine::SurfaceAccess& access) const override;
};

} // namespace warplens::cpu
