// The GPU that a program on the CPU back end sees.
//
// WARPLENS_DEVICE sets it: `key=value` pairs separated by semicolons; the keys are the members' names below.
// Missing or malformed values (one warning on stderr) keep their defaults.
#pragma once

#include <cstdint>
#include <string>

namespace warplens::cpu {

/// Defaults: an A100 with 40 GB (NVIDIA A100 Tensor Core GPU Architecture whitepaper; CUDA C++ Programming
/// Guide, "Technical Specifications per Compute Capability").
struct DeviceDescription {
  std::string name = "Warplens CPU back end (A100)";
  int sms = 108;
  int max_threads_per_sm = 2048;
  int max_blocks_per_sm = 32;
  int shared_per_block = 49152;         ///< bytes, without opting in
  int shared_per_block_optin = 166912;  ///< bytes
  int shared_per_sm = 167936;           ///< bytes
  int shared_reserved_per_block = 1024; ///< bytes the system takes of each block's share
  int registers_per_sm = 65536;
  int registers_per_block = 65536;
  int registers_per_thread = 256; ///< maximum
  int register_unit = 256;        ///< allocation granularity of a warp
  int register_files = 4;         ///< per SM
  int shared_unit = 128;          ///< bytes; allocation granularity of a block
  int l2_bytes = 41943040;
  int clock_khz = 1410000;
  int memory_clock_khz = 1215000;
  int bus_width_bits = 5120;
  int major = 8;
  int minor = 0;
  std::int64_t global_bytes = std::int64_t{40} << 30;
};

/// Parses a description; `warnings` receives one line for each pair that is not understood.
DeviceDescription parse_device(const std::string& text, std::string& warnings);

/// Notes that the program has code for an architecture (90 is sm_90).
void note_architecture(int architecture);

/// Returns the process's device, read from the environment on first use.
const DeviceDescription& device();

} // namespace warplens::cpu
