# Linker scripts under the names of CUDA's libraries, in one folder with ours: whoever links a program with that folder
# first in its search path, nvcc and CMake included, gets our runtime where it asks for cudart. Of the libraries that
# there is nothing for here, the names exist, and, where the toolkit has the library, functions that end the program with
# one line. The linker says the same line where such a function is called.
find_package(CUDAToolkit QUIET)
set(WARPLENS_STAND_INS ${PROJECT_BINARY_DIR}/lib/warplens)
set(cudart "/* The CPU back end of Warplens in cudart's place. */
GROUP(-lwarplens_runtime_cpu -lwarplens_recorder -lwarplens_trace -lwarplens_support -lboost_context -lzstd -ltbb -lstdc++ -lpthread -ldl -lm -lgcc_s -lgcc -lc)
")
foreach(name libcudart_static.a libcudart.so)
  file(WRITE ${WARPLENS_STAND_INS}/${name} "${cudart}")
  list(APPEND stand_ins ${WARPLENS_STAND_INS}/${name})
endforeach()
function(warplens_missing_library library result) # result: what the linker script names
  set(${result} "-lc" PARENT_SCOPE)
  set(path "${CUDAToolkit_LIBRARY_DIR}/lib${library}.so")
  list(FIND WARPLENS_MISSING_NAMES ${library} at)
  if(at EQUAL -1 OR NOT EXISTS ${path} OR NOT CMAKE_NM)
    return()
  endif()
  math(EXPR at "${at} + 1")
  list(GET WARPLENS_MISSING_NAMES ${at} name)
  string(REGEX REPLACE "Lt$|Mg$" "" prefix ${library})
  execute_process(COMMAND ${CMAKE_NM} -D --defined-only --format=posix ${path} OUTPUT_VARIABLE symbols ERROR_QUIET)
  string(REGEX MATCHALL "(^|\n)${prefix}[A-Za-z0-9_]*" functions "${symbols}")
  if(NOT functions)
    return()
  endif()
  string(REPLACE "\n" "" functions "${functions}")
  list(REMOVE_DUPLICATES functions)
  list(TRANSFORM functions REPLACE "(.+)" "MISSING(\\1)")
  list(JOIN functions "\n" functions)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/missing_${library}.c)
  file(CONFIGURE OUTPUT ${source}.new CONTENT "#define LIBRARY \"${name}\"\n#include \"missing_library.h\"\n${functions}\n" @ONLY)
  file(COPY_FILE ${source}.new ${source} ONLY_IF_DIFFERENT)
  add_library(warplens_missing_${library} STATIC ${source})
  target_include_directories(warplens_missing_${library} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  set_target_properties(warplens_missing_${library} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${WARPLENS_STAND_INS} POSITION_INDEPENDENT_CODE ON)
  add_dependencies(warplens_runtime_cpu warplens_missing_${library}) # programs are linked with both
  install(TARGETS warplens_missing_${library} ARCHIVE DESTINATION lib/warplens)
  set(${result} "-lwarplens_missing_${library} -lc" PARENT_SCOPE)
endfunction()

set(WARPLENS_MISSING_NAMES cublas cuBLAS cublasLt cuBLASLt cufft cuFFT curand cuRAND cusolver cuSOLVER cusolverMg cuSOLVERMg cusparse cuSPARSE
    nvjpeg nvJPEG nvrtc NVRTC nvJitLink nvJitLink cupti CUPTI cudnn cuDNN nccl NCCL)
foreach(library cublas cublasLt cufft cufftw curand cusolver cusolverMg cusolver_lapack cusolver_metis metis cusparse cudadevrt cuda culibos
        nppc nppial nppicc nppidei nppif nppig nppim nppist nppisu nppitc npps nvjpeg nvrtc nvrtc-builtins nvJitLink nvptxcompiler
        nvblas nvidia-ml cupti cudnn nccl)
  warplens_missing_library(${library} parts)
  foreach(name lib${library}.so lib${library}_static.a lib${library}.a)
    file(WRITE ${WARPLENS_STAND_INS}/${name} "/* The CPU back end of Warplens has no such library. */
INPUT(${parts})
")
    list(APPEND stand_ins ${WARPLENS_STAND_INS}/${name})
  endforeach()
endforeach()
# Host code is compiled by Clang, so its OpenMP needs Clang's runtime, also where gcc links; that one has gcc's entry points too.
file(WRITE ${WARPLENS_STAND_INS}/libgomp.so "/* LLVM's OpenMP runtime in libgomp's place. */
INPUT(-l:libomp.so.5)
")
list(APPEND stand_ins ${WARPLENS_STAND_INS}/libgomp.so)
install(FILES ${stand_ins} DESTINATION lib/warplens)
