# The CUDA runtime API, device memory and device functions.
set(CUDART_SOURCES
  allocation.cpp
  bfloat16.cpp
  capture.cpp
  copy.cpp
  cudart_array.cpp
  cudart_copy.cpp
  cudart_device.cpp
  cudart_error.cpp
  cudart_event.cpp
  cudart_function.cpp
  cudart_graph.cpp
  cudart_graph_exec.cpp
  cudart_graph_node.cpp
  cudart_launch.cpp
  cudart_memory.cpp
  cudart_pool.cpp
  cudart_refused.cpp
  cudart_registration.cpp
  real_libraries.cpp
  cudart_stream.cpp
  cudart_texture.cpp
  device_description.cpp
  device_properties.cpp
  device_io.cpp
  device_math_elementary.cpp
  device_math_integer.cpp
  device_math_rounding.cpp
  graph.cpp
  host_memory.cpp
  float8.cpp
  image.cpp
  memory.cpp
  occupancy.cpp
  operation.cpp
  registry.cpp
  texture.cpp)
list(TRANSFORM CUDART_SOURCES PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
target_sources(warplens_runtime_cpu PRIVATE ${CUDART_SOURCES})

find_package(CUDAToolkit 13 REQUIRED) # only its headers
target_include_directories(warplens_runtime_cpu SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})

# Exactly the operations that the source asks for, as device code expects them.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/device_math_elementary.cpp ${CMAKE_CURRENT_LIST_DIR}/device_math_integer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/bfloat16.cpp
  PROPERTIES COMPILE_OPTIONS "-O2;-fno-math-errno;-ffp-contract=off")
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/device_math_rounding.cpp
  PROPERTIES COMPILE_OPTIONS "-O2;-fno-math-errno;-ffp-contract=off;-frounding-math")

target_link_libraries(warplens_runtime_cpu PUBLIC warplens_support PRIVATE fmt::fmt)
