# Linker scripts under the names of CUDA's libraries, in one folder with ours: whoever links a program with that folder
# first in its search path, nvcc and CMake included, gets our runtime where it asks for cudart. Of the libraries that
# there is nothing for here, only the names exist, so that the linker names the functions that a program misses.
set(WARPLENS_STAND_INS ${PROJECT_BINARY_DIR}/lib/warplens)
set(cudart "/* The CPU back end of Warplens in cudart's place. */
GROUP(-lwarplens_runtime_cpu -lwarplens_recorder -lwarplens_trace -lwarplens_support -lboost_context -lzstd -ltbb -lstdc++ -lpthread -ldl -lm -lgcc_s -lgcc -lc)
")
foreach(name libcudart_static.a libcudart.so)
  file(WRITE ${WARPLENS_STAND_INS}/${name} "${cudart}")
  list(APPEND stand_ins ${WARPLENS_STAND_INS}/${name})
endforeach()
set(none "/* The CPU back end of Warplens has no such library. */
INPUT(-lc)
")
foreach(library cublas cublasLt cufft cufftw curand cusolver cusolverMg cusolver_lapack cusolver_metis metis cusparse cudadevrt cuda culibos
        nppc nppial nppicc nppidei nppif nppig nppim nppist nppisu nppitc npps nvjpeg nvrtc nvrtc-builtins nvJitLink nvptxcompiler
        nvblas nvidia-ml cupti cudnn nccl)
  foreach(name lib${library}.so lib${library}_static.a lib${library}.a)
    file(WRITE ${WARPLENS_STAND_INS}/${name} "${none}")
    list(APPEND stand_ins ${WARPLENS_STAND_INS}/${name})
  endforeach()
endforeach()
# Host code is compiled by Clang, so its OpenMP needs Clang's runtime, also where gcc links; that one has gcc's entry points too.
file(WRITE ${WARPLENS_STAND_INS}/libgomp.so "/* LLVM's OpenMP runtime in libgomp's place. */
INPUT(-l:libomp.so.5)
")
list(APPEND stand_ins ${WARPLENS_STAND_INS}/libgomp.so)
install(FILES ${stand_ins} DESTINATION lib/warplens)
