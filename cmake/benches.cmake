# The benches against libraries (`./dev bench ops`, `./dev bench models`). No other target needs theirs.

# What they have in common, with PyTorch in a process of its own as `./dev` finds it when they run.
quern_sources(bench_harness_sources bench/harness)
add_library(quern_bench_harness STATIC EXCLUDE_FROM_ALL ${bench_harness_sources} repl/session_thread.cpp)
target_link_libraries(quern_bench_harness PUBLIC quern_settings fmt::fmt quern_session PRIVATE nlohmann_json::nlohmann_json)
target_compile_definitions(quern_bench_harness PUBLIC QUERN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
quern_precompile(quern_bench_harness "")

# What the processes of C++ libraries have in common.
quern_sources(bench_peer_sources bench/peer)
add_library(quern_bench_peer STATIC EXCLUDE_FROM_ALL ${bench_peer_sources})
target_link_libraries(quern_bench_peer PUBLIC quern_settings fmt::fmt quern_ir)
quern_precompile(quern_bench_peer "")

find_path(DNNL_INCLUDE_DIR dnnl.hpp)
find_library(DNNL_LIBRARY dnnl)

# Whole models against PyTorch and, where it is, compositions of oneDNN's primitives.
quern_sources(models_bench_sources bench/models)
set(models_peer_sources ${models_bench_sources})
list(FILTER models_bench_sources EXCLUDE REGEX "/bench/models/(first_call|peer)/")
list(FILTER models_peer_sources INCLUDE REGEX "/bench/models/peer/")
add_executable(quern_first_call EXCLUDE_FROM_ALL bench/models/first_call/main.cpp)
target_link_libraries(quern_first_call PRIVATE quern_settings)
add_executable(quern_models_bench EXCLUDE_FROM_ALL ${models_bench_sources})
target_link_libraries(quern_models_bench PRIVATE quern_bench_harness)
# Kernels find the runtime's symbols in the program.
set_target_properties(quern_models_bench PROPERTIES ENABLE_EXPORTS ON)
add_dependencies(quern_models_bench quern quern_first_call)
quern_precompile(quern_models_bench "")
if(DNNL_INCLUDE_DIR AND DNNL_LIBRARY)
  add_executable(quern_models_peer EXCLUDE_FROM_ALL ${models_peer_sources})
  target_include_directories(quern_models_peer SYSTEM PRIVATE "${DNNL_INCLUDE_DIR}")
  target_link_libraries(quern_models_peer PRIVATE quern_bench_peer "${DNNL_LIBRARY}")
  quern_precompile(quern_models_peer "")
  add_dependencies(quern_models_bench quern_models_peer)
endif()

# Texts of equal meaning against each other.
add_executable(quern_rewrites_bench EXCLUDE_FROM_ALL bench/rewrites/main.cpp)
target_link_libraries(quern_rewrites_bench PRIVATE quern_bench_harness)
set_target_properties(quern_rewrites_bench PROPERTIES ENABLE_EXPORTS ON)
quern_precompile(quern_rewrites_bench "")

# Models without one measure, against the same with all of them.
quern_sources(ablations_bench_sources bench/ablations)
add_executable(quern_ablations_bench EXCLUDE_FROM_ALL ${ablations_bench_sources})
target_link_libraries(quern_ablations_bench PRIVATE quern_bench_harness)
set_target_properties(quern_ablations_bench PROPERTIES ENABLE_EXPORTS ON)
quern_precompile(quern_ablations_bench "")

# Operators against oneDNN, OpenBLAS and PyTorch, where the first two are.
pkg_check_modules(openblas QUIET IMPORTED_TARGET openblas)
if(NOT DNNL_INCLUDE_DIR OR NOT DNNL_LIBRARY OR NOT openblas_FOUND)
  return()
endif()

quern_sources(ops_bench_sources bench/ops)
set(ops_peer_sources ${ops_bench_sources})
list(FILTER ops_bench_sources EXCLUDE REGEX "/bench/ops/peer/")
list(FILTER ops_peer_sources INCLUDE REGEX "/bench/ops/peer/")

add_executable(quern_ops_peer EXCLUDE_FROM_ALL ${ops_peer_sources})
target_include_directories(quern_ops_peer SYSTEM PRIVATE "${DNNL_INCLUDE_DIR}")
target_link_libraries(quern_ops_peer PRIVATE quern_bench_peer "${DNNL_LIBRARY}" PkgConfig::openblas)
quern_precompile(quern_ops_peer "")

add_executable(quern_ops_bench EXCLUDE_FROM_ALL ${ops_bench_sources})
target_link_libraries(quern_ops_bench PRIVATE quern_bench_harness)
# Kernels find the runtime's symbols in the program.
set_target_properties(quern_ops_bench PROPERTIES ENABLE_EXPORTS ON)
add_dependencies(quern_ops_bench quern_ops_peer)
quern_precompile(quern_ops_bench "")
