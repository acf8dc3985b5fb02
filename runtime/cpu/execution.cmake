# Runs blocks and lanes, merges their logs.
target_sources(warplens_runtime_cpu PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/fiber.cpp
  ${CMAKE_CURRENT_LIST_DIR}/barrier.cpp
  ${CMAKE_CURRENT_LIST_DIR}/block.cpp
  ${CMAKE_CURRENT_LIST_DIR}/warp.cpp
  ${CMAKE_CURRENT_LIST_DIR}/warp_operations.cpp
  ${CMAKE_CURRENT_LIST_DIR}/log_merger.cpp
  ${CMAKE_CURRENT_LIST_DIR}/constant_memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/intrinsics.cpp
  ${CMAKE_CURRENT_LIST_DIR}/mbarrier.cpp
  ${CMAKE_CURRENT_LIST_DIR}/run_grid.cpp
  ${CMAKE_CURRENT_LIST_DIR}/launch.cpp
  ${CMAKE_CURRENT_LIST_DIR}/signals.cpp
  ${CMAKE_CURRENT_LIST_DIR}/lock_step.cpp
  ${CMAKE_CURRENT_LIST_DIR}/checks_wanted.cpp
  ${CMAKE_CURRENT_LIST_DIR}/memcheck.cpp
  ${CMAKE_CURRENT_LIST_DIR}/block_checks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/race_detector.cpp
  ${CMAKE_CURRENT_LIST_DIR}/written_memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/findings.cpp)
