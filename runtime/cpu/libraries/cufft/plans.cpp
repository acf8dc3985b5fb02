// cuFFT: plans of up to three dimensions, in batches, with strides; transforms are not normalised.
#include "runtime/cpu/cudart/library_call.h"
#include "runtime/cpu/libraries/cufft/transform.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cufft.h>
#include <cufftXt.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace warplens::libraries {
namespace {

using Complex = std::complex<double>;

/// How a side's elements lie: those of a batch `distance` apart, in rows of its own sizes.
struct Layout {
  std::array<std::int64_t, 3> sizes{1, 1, 1}; ///< the first does not matter
  std::int64_t stride = 1, distance = 0;

  std::int64_t at(std::int64_t batch, std::int64_t x, std::int64_t y, std::int64_t z) const {
    return batch * distance + ((x * sizes[1] + y) * sizes[2] + z) * stride;
  }
};

struct Plan {
  bool is_made = false;
  cudaStream_t stream = nullptr;
  cufftType type = CUFFT_C2C;
  std::array<std::int64_t, 3> sizes{1, 1,
                                    1}; ///< the last changes fastest; those that are not there come first
  std::int64_t batches = 1;
  Layout in, out;
  std::array<std::shared_ptr<const FourierTransform>, 3> transforms;
};

std::mutex plans_mutex;
std::map<cufftHandle, std::shared_ptr<Plan>> plans;
cufftHandle next_plan = 1;

std::shared_ptr<Plan> plan_of(cufftHandle handle) {
  const std::scoped_lock lock(plans_mutex);
  const auto found = plans.find(handle);
  return found == plans.end() ? nullptr : found->second;
}

bool reads_real(cufftType type) {
  return type == CUFFT_R2C || type == CUFFT_D2Z;
}
bool writes_real(cufftType type) {
  return type == CUFFT_C2R || type == CUFFT_Z2D;
}

/// Element types of a side; half of a spectrum is there beside real values.
std::int64_t row_of(const Plan& plan, bool is_real) {
  return is_real || plan.type == CUFFT_C2C || plan.type == CUFFT_Z2Z ? plan.sizes[2] : plan.sizes[2] / 2 + 1;
}

/// Lays a side out as the caller says; without `embedded` its rows follow each other.
Layout lay_out(const Plan& plan, int rank, const long long* embedded, long long stride, long long distance,
               bool is_real) {
  Layout layout;
  layout.sizes = {plan.sizes[0], plan.sizes[1], row_of(plan, is_real)};
  layout.distance = plan.sizes[0] * plan.sizes[1] * layout.sizes[2];
  if (!embedded)
    return layout;
  for (int i = 0; i < rank; ++i)
    layout.sizes[std::size_t(3 - rank + i)] = embedded[i];
  layout.stride = stride;
  layout.distance = distance;
  return layout;
}

cufftResult make(cufftHandle handle, int rank, const long long* sizes, const long long* in_embedded,
                 long long in_stride, long long in_distance, const long long* out_embedded,
                 long long out_stride, long long out_distance, cufftType type, long long batches,
                 std::size_t* work_bytes) {
  const auto plan = plan_of(handle);
  if (!plan)
    return CUFFT_INVALID_PLAN;
  if (rank < 1 || rank > 3 || !sizes)
    return CUFFT_INVALID_VALUE;
  if (batches < 1 || std::any_of(sizes, sizes + rank, [](long long size) { return size < 1; }))
    return CUFFT_INVALID_SIZE;
  switch (type) {
  case CUFFT_C2C:
  case CUFFT_R2C:
  case CUFFT_C2R:
  case CUFFT_Z2Z:
  case CUFFT_D2Z:
  case CUFFT_Z2D: break;
  default: return CUFFT_INVALID_TYPE;
  }
  plan->type = type;
  plan->batches = batches;
  plan->sizes = {1, 1, 1};
  for (int i = 0; i < rank; ++i)
    plan->sizes[std::size_t(3 - rank + i)] = sizes[i];
  // cuFFT ignores both layouts if one is not given.
  const bool is_embedded = in_embedded && out_embedded;
  plan->in =
      lay_out(*plan, rank, is_embedded ? in_embedded : nullptr, in_stride, in_distance, reads_real(type));
  plan->out =
      lay_out(*plan, rank, is_embedded ? out_embedded : nullptr, out_stride, out_distance, writes_real(type));
  for (std::size_t i = 0; i < 3; ++i)
    plan->transforms[i] = std::make_shared<const FourierTransform>(std::size_t(plan->sizes[i]));
  plan->is_made = true;
  if (work_bytes)
    *work_bytes = 0;
  return CUFFT_SUCCESS;
}

cufftResult make(cufftHandle handle, int rank, const int* sizes, const int* in_embedded, int in_stride,
                 int in_distance, const int* out_embedded, int out_stride, int out_distance, cufftType type,
                 int batches, std::size_t* work_bytes) {
  if (rank < 1 || rank > 3)
    return CUFFT_INVALID_VALUE;
  const auto widened = [&](const int* values) {
    return values ? std::vector<long long>(values, values + rank) : std::vector<long long>();
  };
  const auto pointer = [](const std::vector<long long>& values) {
    return values.empty() ? nullptr : values.data();
  };
  const auto of_all = widened(sizes), of_in = widened(in_embedded), of_out = widened(out_embedded);
  return make(handle, rank, pointer(of_all), pointer(of_in), in_stride, in_distance, pointer(of_out),
              out_stride, out_distance, type, batches, work_bytes);
}

/// In place, real values and half of a spectrum share rows that are padded for the spectrum.
Layout padded_for(Layout real, const Plan& plan) {
  real.sizes = {plan.sizes[0], plan.sizes[1], 2 * (plan.sizes[2] / 2 + 1)};
  real.distance = real.sizes[0] * real.sizes[1] * real.sizes[2];
  return real;
}

template <class Real> void transform(const Plan& plan, const void* from, void* to, bool inverse) {
  const auto [size_x, size_y, size_z] = plan.sizes;
  Layout in = plan.in, out = plan.out;
  const bool from_real = reads_real(plan.type), to_real = writes_real(plan.type);
  const bool is_plain = in.stride == 1 && out.stride == 1 && in.distance == size_x * size_y * in.sizes[2];
  if (from == to && is_plain && from_real)
    in = padded_for(in, plan);
  if (from == to && is_plain && to_real)
    out = padded_for(out, plan);
  std::vector<Complex> values(std::size_t(size_x * size_y * size_z)), line;
  const auto place = [&](std::int64_t x, std::int64_t y, std::int64_t z) -> Complex& {
    return values[std::size_t((x * size_y + y) * size_z + z)];
  };
  const auto for_all = [&](std::int64_t end_z, const auto& then) {
    for (std::int64_t x = 0; x < size_x; ++x)
      for (std::int64_t y = 0; y < size_y; ++y)
        for (std::int64_t z = 0; z < end_z; ++z)
          then(x, y, z);
  };
  const auto number = [&](std::int64_t at) -> Complex {
    if (from_real)
      return static_cast<const Real*>(from)[at];
    return Complex(static_cast<const std::complex<Real>*>(from)[at]);
  };
  const auto along = [&](std::size_t axis, std::int64_t first, std::int64_t second, const auto& at) {
    line.resize(std::size_t(plan.sizes[axis]));
    for (std::int64_t i = 0; i < first; ++i)
      for (std::int64_t j = 0; j < second; ++j) {
        for (std::size_t k = 0; k < line.size(); ++k)
          line[k] = at(i, j, std::int64_t(k));
        plan.transforms[axis]->run(line, inverse);
        for (std::size_t k = 0; k < line.size(); ++k)
          at(i, j, std::int64_t(k)) = line[k];
      }
  };
  for (std::int64_t batch = 0; batch < plan.batches; ++batch) {
    // Of a spectrum of real values the other half follows from the one that is there.
    for_all(to_real ? size_z / 2 + 1 : size_z, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      const Complex value = number(in.at(batch, x, y, z));
      if (to_real && z != 0)
        place((size_x - x) % size_x, (size_y - y) % size_y, size_z - z) = std::conj(value);
      place(x, y, z) = value;
    });
    along(0, size_y, size_z, [&](auto y, auto z, auto x) -> Complex& { return place(x, y, z); });
    along(1, size_x, size_z, [&](auto x, auto z, auto y) -> Complex& { return place(x, y, z); });
    along(2, size_x, size_y, [&](auto x, auto y, auto z) -> Complex& { return place(x, y, z); });
    for_all(from_real ? size_z / 2 + 1 : size_z, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      const std::int64_t at = out.at(batch, x, y, z);
      if (to_real)
        static_cast<Real*>(to)[at] = Real(place(x, y, z).real());
      else
        static_cast<std::complex<Real>*>(to)[at] = std::complex<Real>(place(x, y, z));
    });
  }
}

cufftResult execute(cufftHandle handle, std::initializer_list<cufftType> types, const char* function,
                    const void* from, void* to, int direction) {
  const auto plan = plan_of(handle);
  if (!plan || !plan->is_made || std::ranges::find(types, plan->type) == types.end())
    return CUFFT_INVALID_PLAN;
  // Where one side is real, the type says the direction.
  if (reads_real(plan->type) || writes_real(plan->type))
    direction = writes_real(plan->type) ? CUFFT_INVERSE : CUFFT_FORWARD;
  if (!from || !to || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE))
    return CUFFT_INVALID_VALUE;
  const bool is_double = plan->type == CUFFT_Z2Z || plan->type == CUFFT_D2Z || plan->type == CUFFT_Z2D;
  const auto work = [plan, from, to, direction, is_double] {
    (is_double ? transform<double> : transform<float>)(*plan, from, to, direction == CUFFT_INVERSE);
  };
  return __warplens_cpu_library_call(function, plan->stream, work) == cudaSuccess ? CUFFT_SUCCESS
                                                                                  : CUFFT_EXEC_FAILED;
}

/// Makes a plan and its handle; leaves none behind if it cannot be made.
template <class Make> cufftResult create_and(cufftHandle* handle, Make make_it) {
  if (const cufftResult created = cufftCreate(handle); created != CUFFT_SUCCESS)
    return created;
  const cufftResult made = make_it(*handle);
  if (made != CUFFT_SUCCESS)
    cufftDestroy(*handle);
  return made;
}

/// Returns the transform between these types of numbers; none of halves and bfloat16.
std::optional<cufftType> type_of(cudaDataType from, cudaDataType to) {
  struct Transform {
    cudaDataType from, to;
    cufftType type;
  };
  constexpr Transform transforms[] = {
      {CUDA_C_32F, CUDA_C_32F, CUFFT_C2C}, {CUDA_R_32F, CUDA_C_32F, CUFFT_R2C},
      {CUDA_C_32F, CUDA_R_32F, CUFFT_C2R}, {CUDA_C_64F, CUDA_C_64F, CUFFT_Z2Z},
      {CUDA_R_64F, CUDA_C_64F, CUFFT_D2Z}, {CUDA_C_64F, CUDA_R_64F, CUFFT_Z2D},
  };
  for (const Transform& transform : transforms)
    if (transform.from == from && transform.to == to)
      return transform.type;
  __warplens_cpu_refuse_library_call("cufftXtMakePlanMany",
                                     "it transforms numbers of single and double precision");
  return std::nullopt;
}

cufftResult no_work(std::size_t* bytes) {
  if (!bytes)
    return CUFFT_INVALID_VALUE;
  *bytes = 0;
  return CUFFT_SUCCESS;
}

} // namespace
} // namespace warplens::libraries

using namespace warplens::libraries;

extern "C" {

cufftResult cufftCreate(cufftHandle* handle) {
  if (!handle)
    return CUFFT_INVALID_VALUE;
  const std::scoped_lock lock(plans_mutex);
  *handle = next_plan++;
  plans.emplace(*handle, std::make_shared<Plan>());
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle handle) {
  const std::scoped_lock lock(plans_mutex);
  return plans.erase(handle) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  const auto plan = plan_of(handle);
  if (!plan)
    return CUFFT_INVALID_PLAN;
  plan->stream = stream;
  return CUFFT_SUCCESS;
}
cufftResult cufftSetAutoAllocation(cufftHandle handle, int) {
  return plan_of(handle) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult cufftSetWorkArea(cufftHandle handle, void*) {
  return plan_of(handle) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult cufftGetVersion(int* version) {
  if (!version)
    return CUFFT_INVALID_VALUE;
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}
cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  if (!value)
    return CUFFT_INVALID_VALUE;
  *value = type == MAJOR_VERSION   ? CUFFT_VER_MAJOR
           : type == MINOR_VERSION ? CUFFT_VER_MINOR
                                   : CUFFT_VER_PATCH;
  return CUFFT_SUCCESS;
}

cufftResult cufftMakePlan1d(cufftHandle handle, int size, cufftType type, int batches, size_t* bytes) {
  return make(handle, 1, &size, nullptr, 1, 0, nullptr, 1, 0, type, batches, bytes);
}
cufftResult cufftMakePlan2d(cufftHandle handle, int x, int y, cufftType type, size_t* bytes) {
  const int sizes[] = {x, y};
  return make(handle, 2, sizes, nullptr, 1, 0, nullptr, 1, 0, type, 1, bytes);
}
cufftResult cufftMakePlan3d(cufftHandle handle, int x, int y, int z, cufftType type, size_t* bytes) {
  const int sizes[] = {x, y, z};
  return make(handle, 3, sizes, nullptr, 1, 0, nullptr, 1, 0, type, 1, bytes);
}
cufftResult cufftMakePlanMany(cufftHandle handle, int rank, int* sizes, int* in_embedded, int in_stride,
                              int in_distance, int* out_embedded, int out_stride, int out_distance,
                              cufftType type, int batches, size_t* bytes) {
  return make(handle, rank, sizes, in_embedded, in_stride, in_distance, out_embedded, out_stride,
              out_distance, type, batches, bytes);
}
cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long* sizes, long long* in_embedded,
                                long long in_stride, long long in_distance, long long* out_embedded,
                                long long out_stride, long long out_distance, cufftType type,
                                long long batches, size_t* bytes) {
  return make(handle, rank, sizes, in_embedded, in_stride, in_distance, out_embedded, out_stride,
              out_distance, type, batches, bytes);
}

cufftResult cufftXtMakePlanMany(cufftHandle handle, int rank, long long* sizes, long long* in_embedded,
                                long long in_stride, long long in_distance, cudaDataType in_type,
                                long long* out_embedded, long long out_stride, long long out_distance,
                                cudaDataType out_type, long long batches, size_t* bytes, cudaDataType) {
  const auto type = type_of(in_type, out_type);
  return type ? make(handle, rank, sizes, in_embedded, in_stride, in_distance, out_embedded, out_stride,
                     out_distance, *type, batches, bytes)
              : CUFFT_NOT_SUPPORTED;
}
cufftResult cufftXtGetSizeMany(cufftHandle handle, int, long long*, long long*, long long, long long,
                               cudaDataType, long long*, long long, long long, cudaDataType, long long,
                               size_t* bytes, cudaDataType) {
  return plan_of(handle) ? no_work(bytes) : CUFFT_INVALID_PLAN;
}

cufftResult cufftPlan1d(cufftHandle* handle, int size, cufftType type, int batches) {
  return create_and(handle,
                    [&](cufftHandle made) { return cufftMakePlan1d(made, size, type, batches, nullptr); });
}
cufftResult cufftPlan2d(cufftHandle* handle, int x, int y, cufftType type) {
  return create_and(handle, [&](cufftHandle made) { return cufftMakePlan2d(made, x, y, type, nullptr); });
}
cufftResult cufftPlan3d(cufftHandle* handle, int x, int y, int z, cufftType type) {
  return create_and(handle, [&](cufftHandle made) { return cufftMakePlan3d(made, x, y, z, type, nullptr); });
}
cufftResult cufftPlanMany(cufftHandle* handle, int rank, int* sizes, int* in_embedded, int in_stride,
                          int in_distance, int* out_embedded, int out_stride, int out_distance,
                          cufftType type, int batches) {
  return create_and(handle, [&](cufftHandle made) {
    return cufftMakePlanMany(made, rank, sizes, in_embedded, in_stride, in_distance, out_embedded, out_stride,
                             out_distance, type, batches, nullptr);
  });
}

// No transform needs memory of the device.
cufftResult cufftEstimate1d(int, cufftType, int, size_t* bytes) {
  return no_work(bytes);
}
cufftResult cufftEstimate2d(int, int, cufftType, size_t* bytes) {
  return no_work(bytes);
}
cufftResult cufftEstimate3d(int, int, int, cufftType, size_t* bytes) {
  return no_work(bytes);
}
cufftResult cufftEstimateMany(int, int*, int*, int, int, int*, int, int, cufftType, int, size_t* bytes) {
  return no_work(bytes);
}
cufftResult cufftGetSize(cufftHandle handle, size_t* bytes) {
  return plan_of(handle) ? no_work(bytes) : CUFFT_INVALID_PLAN;
}
cufftResult cufftGetSize1d(cufftHandle handle, int, cufftType, int, size_t* bytes) {
  return cufftGetSize(handle, bytes);
}
cufftResult cufftGetSize2d(cufftHandle handle, int, int, cufftType, size_t* bytes) {
  return cufftGetSize(handle, bytes);
}
cufftResult cufftGetSize3d(cufftHandle handle, int, int, int, cufftType, size_t* bytes) {
  return cufftGetSize(handle, bytes);
}

cufftResult cufftExecC2C(cufftHandle handle, cufftComplex* from, cufftComplex* to, int direction) {
  return execute(handle, {CUFFT_C2C}, "cufftExecC2C", from, to, direction);
}
cufftResult cufftExecZ2Z(cufftHandle handle, cufftDoubleComplex* from, cufftDoubleComplex* to,
                         int direction) {
  return execute(handle, {CUFFT_Z2Z}, "cufftExecZ2Z", from, to, direction);
}
cufftResult cufftExecR2C(cufftHandle handle, cufftReal* from, cufftComplex* to) {
  return execute(handle, {CUFFT_R2C}, "cufftExecR2C", from, to, CUFFT_FORWARD);
}
cufftResult cufftExecD2Z(cufftHandle handle, cufftDoubleReal* from, cufftDoubleComplex* to) {
  return execute(handle, {CUFFT_D2Z}, "cufftExecD2Z", from, to, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle handle, cufftComplex* from, cufftReal* to) {
  return execute(handle, {CUFFT_C2R}, "cufftExecC2R", from, to, CUFFT_INVERSE);
}
cufftResult cufftExecZ2D(cufftHandle handle, cufftDoubleComplex* from, cufftDoubleReal* to) {
  return execute(handle, {CUFFT_Z2D}, "cufftExecZ2D", from, to, CUFFT_INVERSE);
}
cufftResult cufftXtExec(cufftHandle handle, void* from, void* to, int direction) {
  return execute(handle, {CUFFT_C2C, CUFFT_Z2Z, CUFFT_R2C, CUFFT_D2Z, CUFFT_C2R, CUFFT_Z2D}, "cufftXtExec",
                 from, to, direction);
}
}
