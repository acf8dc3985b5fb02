#include "driver/processes.h"

#include <cstdlib>

#ifdef WARPLENS_MPI
#define OMPI_SKIP_MPICXX 1
#include <algorithm>
#include <exception>
#include <mpi.h>

namespace warplens::driver {
namespace {

constexpr std::uint64_t has_failed = ~std::uint64_t{0};

/// Returns whether mpirun or Slurm started this process; without them MPI_Init would start services for one
/// process.
bool started_by_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"})
    if (std::getenv(name))
      return true;
  return false;
}

/// Gathers one number from each process.
std::vector<std::uint64_t> numbers_of_all(std::uint64_t mine, std::uint32_t count) {
  std::vector<std::uint64_t> all(count);
  MPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  return all;
}

/// Ends this process without a message; another process prints the error and fails for all: mpirun kills the
/// others as soon as one fails, before that has printed why.
[[noreturn]] void end_quietly() {
  MPI_Finalize();
  std::_Exit(0);
}

/// Implements Ranks::exchange.
std::vector<std::vector<std::byte>> exchange(std::vector<std::byte> mine, std::uint32_t own_rank,
                                             std::uint32_t count) {
  const std::vector<std::uint64_t> sizes = numbers_of_all(mine.size(), count);
  for (const std::uint64_t size : sizes)
    if (size == has_failed)
      end_quietly();
  std::vector<std::vector<std::byte>> all(count);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    if (rank == own_rank)
      all[rank] = std::move(mine);
    all[rank].resize(sizes[rank]);
    constexpr std::size_t most = 1u << 30; // MPI counts in int
    for (std::size_t at = 0; at < all[rank].size(); at += most)
      MPI_Bcast(all[rank].data() + at, int(std::min(most, all[rank].size() - at)), MPI_BYTE, int(rank),
                MPI_COMM_WORLD);
  }
  return all;
}

} // namespace

Processes::Processes() {
  if (!started_by_mpi())
    return;
  int provided = 0, rank = 0, count = 1;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  ranks_.rank = std::uint32_t(rank);
  ranks_.count = std::uint32_t(count);
  ranks_.exchange = [rank = ranks_.rank, count = ranks_.count](std::vector<std::byte> mine) {
    return driver::exchange(std::move(mine), rank, count);
  };
}

Processes::~Processes() {
  if (!ranks_.exchange)
    return;
  if (std::uncaught_exceptions() > 0)
    MPI_Abort(MPI_COMM_WORLD, 1); // the others would wait for ever
  MPI_Finalize();
}

Error Processes::failed(Error error) const {
  if (ranks_.count == 1)
    return error;
  const std::vector<std::uint64_t> states = numbers_of_all(has_failed, ranks_.count);
  for (std::uint32_t rank = 0; rank < ranks_.rank; ++rank)
    if (states[rank] == has_failed)
      end_quietly();
  return error;
}

} // namespace warplens::driver

#else

namespace warplens::driver {

Processes::Processes() = default;
Processes::~Processes() = default;
Error Processes::failed(Error error) const {
  return error;
}

} // namespace warplens::driver

#endif
