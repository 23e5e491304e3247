# Compiler settings shared by every room.

option(QUERN_WERROR "Treat warnings as errors" OFF)
option(QUERN_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
option(QUERN_FAIL_CHECKS "Internal checks can be made to fail, for tests (ir/base/internal_failure.h)" OFF)
# A build from nothing takes half as long, the one after an edit several times as long.
option(QUERN_UNITY "Compile neighbouring sources together" OFF)
set(QUERN_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, for instance 'address,undefined' or 'thread'")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# Setting -fPIC for libraries and -fPIE for programs apart would keep them from sharing one precompiled
# header; the compiler's default (position-independent executables) serves both.
set(CMAKE_POSITION_INDEPENDENT_CODE)

add_library(quern_settings INTERFACE)
target_include_directories(quern_settings INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
target_compile_options(quern_settings INTERFACE -Wall -Wextra
  # A kind without a case is no warning.
  -Werror=switch
  # The reference interpreter is the oracle: a*b+c must round twice on every machine.
  -ffp-contract=off)
if(QUERN_FAIL_CHECKS)
  target_compile_definitions(quern_settings INTERFACE QUERN_FAIL_CHECKS)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees overlaps and overruns in inlined std::string concatenation that are not there (GCC bug 105651),
  # and std::optional read before it is set.
  target_compile_options(quern_settings INTERFACE -Wno-restrict -Wno-array-bounds
                         -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized)
endif()
# Nodes are made as aggregates whose tail keeps its defaults.
target_compile_options(quern_settings INTERFACE -Wno-missing-field-initializers)
if(QUERN_WERROR)
  target_compile_options(quern_settings INTERFACE -Werror)
endif()

if(QUERN_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A class of one source may have members of that source's own types.
  target_compile_options(quern_settings INTERFACE -Wno-subobject-linkage)
  # The compiler collects its garbage less often: a tenth of its time for half a gigabyte more of memory at most.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-expand=400 --param ggc-min-heapsize=1500000>")
endif()

if(QUERN_SANITIZE)
  add_compile_options(-fsanitize=${QUERN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${QUERN_SANITIZE})
  # Checks of each access to a member, which are a third of the code and of the time to compile it: what they find on this
  # machine the address sanitizer finds too.
  if(QUERN_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=null,alignment,object-size,pointer-overflow,vptr)
  endif()
endif()
if(QUERN_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "QUERN_FUZZ needs clang: configure with -DCMAKE_CXX_COMPILER=clang++-14")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

set(CMAKE_UNITY_BUILD ${QUERN_UNITY})
# Larger ones take less time in all; one of these takes half a minute, which one waits for after an edit.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)

find_program(QUERN_LLD ld.lld)
if(QUERN_LLD)
  add_link_options(-fuse-ld=lld)
endif()
# The build id tells one build of the compiler from the next.
add_link_options(-Wl,--build-id=sha1 -Wl,--gc-sections -Wl,--as-needed)
if(NOT QUERN_SANITIZE)
  # At a fixed address: vtables and tables of strings need no relocation at each start.
  add_compile_options(-fno-pie)
  add_link_options(-no-pie)
endif()

find_program(QUERN_CCACHE ccache)
if(QUERN_CCACHE)
  # Precompiled headers are cached only when ccache may disregard their defines and time macros.
  set(ccache_launcher "${CMAKE_COMMAND}" -E env "CCACHE_SLOPPINESS=pch_defines,time_macros" "${QUERN_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache_launcher})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()

# A library need not wait for those it will be linked with, only for what they generate.
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)
