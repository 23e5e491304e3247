# The tests: one program per kind, found by folder. Each test of GoogleTest is a test of ctest, but for suites of many short
# ones, which share a process: to start one takes longer than most of them.

enable_testing()
find_package(GTest REQUIRED)
include(GoogleTest)
# The rules of dims are proved with Z3.
pkg_check_modules(z3 REQUIRED IMPORTED_TARGET z3)
pkg_check_modules(vterm REQUIRED IMPORTED_TARGET vterm)

set(QUERN_TEST_TIMEOUT 600 CACHE STRING "Seconds that a test may take; more under the sanitizers")

# What most tests read, precompiled for all of them, optimised as they are.
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/pch_tests.cpp" CONTENT "// Owns the tests' precompiled header.\n")
add_library(quern_pch_tests OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/generated/pch_tests.cpp")
target_link_libraries(quern_pch_tests PUBLIC quern_settings fmt::fmt GTest::gmock)
target_compile_options(quern_pch_tests PRIVATE -O1)
target_precompile_headers(quern_pch_tests PRIVATE "${PROJECT_SOURCE_DIR}/cmake/pch/tests.h")

# quern_test(<target> <folder below tests>... [COST <seconds>] [SUITES <suite that shares a process>...])
# A suite with a test that starts threads shares none: `./dev sanitize` picks these tests by name.
# Tests with a COST, of which some take about so long, begin before the others: the last to end are short ones, and no
# processor waits for them. ctest counts halves of processors (`-j` is twice their number): a test takes two, and one that
# mostly waits takes one.
function(quern_test target)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "COST" "SUITES")
  if(NOT test_COST)
    set(test_COST 0)
  endif()
  set(folders ${test_UNPARSED_ARGUMENTS})
  list(TRANSFORM folders PREPEND "tests/")
  quern_sources(sources ${folders})
  if(NOT sources)
    return()
  endif()
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE quern_settings fmt::fmt quern_lsp nlohmann_json::nlohmann_json
                                          GTest::gmock GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE
    QUERN_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    QUERN_BINARY="${PROJECT_BINARY_DIR}/quern")
  # A quarter less time to compile than with -O2. Without any, oracles and comparisons take several times as long to run.
  target_compile_options(${target} PRIVATE -O1)
  target_precompile_headers(${target} REUSE_FROM quern_pch_tests)
  # Helpers of neighbouring tests often have the same name.
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)
  # Kernels compiled inside the tests find the runtime's symbols as they do in the program.
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
  if(TARGET quern)
    add_dependencies(${target} quern)
  endif()
  # No test sees what is in the user's cache of compiled code, and after every pass the IR is verified.
  set(environment "QUERN_CACHE=off;QUERN_TIERS=best;QUERN_VERIFY=1")
  # Discovery passes properties on as a list, of which a variable list would be several.
  string(REPLACE ";" "\\;" escaped_environment "${environment}")
  set(others "")
  foreach(suite IN LISTS test_SUITES)
    add_test(NAME "${suite}" COMMAND ${target} "--gtest_filter=${suite}.*")
    set_tests_properties("${suite}" PROPERTIES TIMEOUT ${QUERN_TEST_TIMEOUT} ENVIRONMENT "${environment}"
                                               COST ${test_COST} PROCESSORS 2 FAIL_REGULAR_EXPRESSION "Running 0 tests")
    string(APPEND others ":${suite}.*")
  endforeach()
  if(others)
    string(REGEX REPLACE "^:" "-" others "${others}")
  endif()
  gtest_discover_tests(${target} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 120 TEST_FILTER "${others}"
                       PROPERTIES TIMEOUT ${QUERN_TEST_TIMEOUT} COST ${test_COST} PROCESSORS 2
                                  ENVIRONMENT "${escaped_environment}")
endfunction()

quern_test(quern_unit_tests ir frontend passes jit session ide cli
           SUITES Kinds/ErrorsDocExamples Rules/VerifierRules Rules/KernelRules Codegen/EveryOp PrinterTest VmTest
                  InterpreterTest DimProof DimForm Goldens/Fixes Files/Models ExprTest Contraction Codegen/EveryReduction
                  Codegen/EveryCast Ways/SavedFiles Query Parser TextLayoutTest Schedule)
target_sources(quern_unit_tests PRIVATE tests/support/metadata.cpp)
target_link_libraries(quern_unit_tests PRIVATE SQLite::SQLite3 quern_grammar)
# A program of their own: to load Z3 takes longer than most of the others.
quern_test(quern_proof_tests proofs SUITES DimRules)
target_link_libraries(quern_proof_tests PRIVATE PkgConfig::z3)
quern_test(quern_numeric_tests numeric support SUITES Operators/Gradients Each/DTypes Numeric/Programs Gradients/Taped)
quern_test(quern_operator_tests operators support COST 100
           SUITES Operators/KernelColumn Operators/ShapeColumn Operators/GradientColumn Operators/ReferenceColumn
                  Operators/DocumentationColumn Operators/LayoutColumn)
quern_test(quern_models_tests models support)
quern_test(quern_golden_tests golden COST 15 SUITES Files/Golden)
quern_test(quern_random_tests random support COST 20)
quern_test(quern_protocol_tests lsp repl serve)
# What an input of the REPL does, without a process of its own; the editor on an emulated terminal.
target_link_libraries(quern_protocol_tests PRIVATE quern_serve PkgConfig::vterm)

if(TARGET quern_import)
  quern_test(quern_import_tests import export support COST 10
             SUITES Import/Graphs Import/OnnxTexts Seeds/ImageNodes BadGraphs BadModels BadModules BadNodes BadVectorizers)
  target_link_libraries(quern_import_tests PRIVATE quern_export onnx_proto quern_graph_proto)
  add_dependencies(quern_import_tests quern-import quern-export)
endif()

if(TARGET quern-kernel)
  quern_test(quern_kernel_tests jupyter)
  target_sources(quern_kernel_tests PRIVATE jupyter/cell.cpp cli/child_process.cpp)
  target_link_libraries(quern_kernel_tests PRIVATE quern_repl)
  target_compile_definitions(quern_kernel_tests PRIVATE QUERN_KERNEL="${PROJECT_BINARY_DIR}/quern-kernel")
  add_dependencies(quern_kernel_tests quern-kernel)
endif()

# The editors' plugins and clients of the server that are not ours, each skipped where what it needs is not there. Packages of
# npm are kept in the build folder. They wait for the editor and for the server most of the time.
foreach(name grammar vscode window browser neovim vim emacs protocol)
  add_test(NAME Editors.${name}
           COMMAND "${PROJECT_SOURCE_DIR}/tests/editors/run.sh" ${name} $<TARGET_FILE:quern> "${PROJECT_BINARY_DIR}/npm")
  set_tests_properties(Editors.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${QUERN_TEST_TIMEOUT} COST 20 PROCESSORS 1
                       ENVIRONMENT "QUERN_CACHE=off;QUERN_TIERS=best;QUERN_VERIFY=1")
endforeach()

# Built by bench/session.sh alone.
add_executable(quern_session_bench EXCLUDE_FROM_ALL bench/session_bench.cpp tests/lsp/server_process.cpp)
target_link_libraries(quern_session_bench PRIVATE quern_settings fmt::fmt quern_repl GTest::gmock)
target_compile_definitions(quern_session_bench PRIVATE QUERN_BINARY="${PROJECT_BINARY_DIR}/quern")
add_dependencies(quern_session_bench quern)
quern_precompile(quern_session_bench "")

# Built by bench/prompt.sh alone.
add_executable(quern_prompt_bench EXCLUDE_FROM_ALL bench/prompt_bench.cpp)
target_link_libraries(quern_prompt_bench PRIVATE quern_settings fmt::fmt)
target_compile_definitions(quern_prompt_bench PRIVATE QUERN_BINARY="${PROJECT_BINARY_DIR}/quern")
add_dependencies(quern_prompt_bench quern)
quern_precompile(quern_prompt_bench "")

# The fuzzers, built by `./dev fuzz`. In a build by Clang with QUERN_FUZZ libFuzzer is told which code an input reaches; in any
# other it changes the inputs at random, and its driver is linked alone.
if(QUERN_FUZZ)
  set(fuzz_driver -fsanitize=fuzzer)
else()
  find_library(QUERN_FUZZ_DRIVER clang_rt.fuzzer-${CMAKE_SYSTEM_PROCESSOR}
               PATHS /usr/lib/llvm-14/lib/clang/14.0.6/lib/linux NO_DEFAULT_PATH)
  set(fuzz_driver "${QUERN_FUZZ_DRIVER}")
endif()
if(fuzz_driver)
  add_custom_target(fuzzers)
  file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/*.cpp")
  foreach(source IN LISTS fuzz_sources)
    cmake_path(GET source STEM name)
    add_executable(fuzz_${name} EXCLUDE_FROM_ALL "${source}")
    target_link_libraries(fuzz_${name} PRIVATE quern_settings quern_lsp "${fuzz_driver}")
    quern_precompile(fuzz_${name} "")
    set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
    add_dependencies(fuzzers fuzz_${name})
  endforeach()
  quern_sources(random_programs tests/random)
  list(FILTER random_programs EXCLUDE REGEX "_test\\.cpp$|/(schedules|gradients|watch)\\.cpp$")
  target_sources(fuzz_run_fuzz PRIVATE ${random_programs})
  target_link_libraries(fuzz_run_fuzz PRIVATE fmt::fmt)
  target_sources(fuzz_print_fuzz PRIVATE tests/support/metadata.cpp)
  target_link_libraries(fuzz_print_fuzz PRIVATE fmt::fmt)
  set_target_properties(fuzz_run_fuzz PROPERTIES ENABLE_EXPORTS ON)
endif()
