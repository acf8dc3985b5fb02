# find_package(warplens): the target warplens::warplens, which is the program, and the function warplens_instrument().
get_filename_component(WARPLENS_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(WARPLENS_EXECUTABLE "${WARPLENS_PREFIX}/bin/warplens")
if(NOT TARGET warplens::warplens)
  add_executable(warplens::warplens IMPORTED)
  set_target_properties(warplens::warplens PROPERTIES IMPORTED_LOCATION "${WARPLENS_EXECUTABLE}")
endif()

# warplens_instrument(TARGET [BACKEND cpu|gpu])
# Compiles the CUDA sources of a target with probes, for its GPUs (`gpu`, the default) or for the CPU back end. `warplens run -- PROGRAM`
# then profiles the program. CUDA has to be an enabled language, with NVIDIA's nvcc as its compiler. Libraries for the CPU back end hand
# the runtime on to what links them.
function(warplens_instrument target)
  cmake_parse_arguments(arg "" "BACKEND" "" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warplens_instrument(${target}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "warplens_instrument(${target}): there is no such target")
  endif()
  if(NOT CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
    message(FATAL_ERROR "warplens_instrument(${target}): CUDA is not an enabled language, or its compiler is not NVIDIA's nvcc")
  endif()
  if(NOT arg_BACKEND)
    set(arg_BACKEND gpu)
  endif()

  if(arg_BACKEND STREQUAL "gpu")
    set(launcher "${WARPLENS_EXECUTABLE};nvcc")
  elseif(arg_BACKEND STREQUAL "cpu")
    get_target_property(separable ${target} CUDA_SEPARABLE_COMPILATION)
    if(separable)
      # The device link is nvcc's, and takes no launcher.
      message(FATAL_ERROR "warplens_instrument(${target} BACKEND cpu): the target has CUDA_SEPARABLE_COMPILATION: configure the project "
                          "with -DCMAKE_CUDA_COMPILER=${WARPLENS_PREFIX}/bin/warplens-nvcc and WARPLENS_BACKEND=cpu in the environment")
    endif()
    set(launcher "${CMAKE_COMMAND};-E;env;WARPLENS_BACKEND=cpu;${WARPLENS_EXECUTABLE};nvcc")
    # Searched before the toolkit's folder: the runtime has the names of CUDA's libraries.
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      target_link_directories(${target} BEFORE PRIVATE "${WARPLENS_PREFIX}/lib/warplens")
    else()
      target_link_directories(${target} BEFORE PUBLIC "${WARPLENS_PREFIX}/lib/warplens")
    endif()
  else()
    message(FATAL_ERROR "warplens_instrument(${target}): BACKEND is cpu or gpu, not '${arg_BACKEND}'")
  endif()
  get_target_property(others ${target} CUDA_COMPILER_LAUNCHER)
  if(others) # such as ccache: what starts the compiler starts warplens
    set(launcher "${others};${launcher}")
  endif()
  set_target_properties(${target} PROPERTIES CUDA_COMPILER_LAUNCHER "${launcher}")
endfunction()
