# Third-party libraries, all from Debian's packages (`./dev setup` installs them). Only CUDA is optional.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(TBB REQUIRED)
# Beast, for the page in the browser; all of it is headers.
find_package(Boost 1.74 REQUIRED)

# Parse trees and memos are small objects by the million: with mimalloc in the place of the C library's malloc a cold
# check takes 0.6 of the time. Sanitizers bring allocators of their own.
if(NOT QUERN_SANITIZE)
  find_library(MIMALLOC_LIBRARY mimalloc REQUIRED)
  target_link_libraries(quern_settings INTERFACE "${MIMALLOC_LIBRARY}")
endif()

# Widths of characters on a terminal; linked statically.
find_library(UTF8PROC_LIBRARY libutf8proc.a REQUIRED)

# Settings files; all of it is headers.
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
add_library(quern_toml_headers INTERFACE)
target_include_directories(quern_toml_headers SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE_DIR})

# Of libzip only its header is used at build time; the library is opened with the first archive. (Its CMake package names
# tools that Debian ships in another package; its pkg-config file is sound.)
pkg_check_modules(libzip REQUIRED libzip)
add_library(quern_libzip_headers INTERFACE)
target_include_directories(quern_libzip_headers SYSTEM INTERFACE ${libzip_INCLUDE_DIRS})

# Images, compressed data, and the words that a tokeniser splits text into. All but zlib, which LLVM brings, are linked
# statically, since a shared library would lengthen each start; and Cairo, which has a libpng of its own, shall not find
# this one among the program's symbols.
find_package(ZLIB REQUIRED)
find_library(PNG_LIBRARY libpng16.a REQUIRED)
find_library(JPEG_LIBRARY libjpeg.a REQUIRED)
find_library(PCRE2_LIBRARY libpcre2-8.a REQUIRED)
add_library(quern_file_formats INTERFACE)
target_link_libraries(quern_file_formats INTERFACE "${PNG_LIBRARY}" "${JPEG_LIBRARY}" "${PCRE2_LIBRARY}" ZLIB::ZLIB m)
target_link_options(quern_file_formats INTERFACE -Wl,--exclude-libs=libpng16.a:libjpeg.a:libpcre2-8.a)

# Opened when it is first used, for pictures as PNG.
pkg_check_modules(cairo REQUIRED cairo)
add_library(quern_cairo_headers INTERFACE)
target_include_directories(quern_cairo_headers SYSTEM INTERFACE ${cairo_INCLUDE_DIRS})

find_package(LLVM 19.1 REQUIRED CONFIG PATHS /usr/lib/llvm-19/lib/cmake/llvm NO_DEFAULT_PATH)
add_library(quern_llvm INTERFACE)
target_include_directories(quern_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(quern_llvm INTERFACE ${llvm_definitions})
# Linked statically: to relocate the shared library is most of the time that the program takes to start. What LLVM itself
# looks up by name, for debuggers, is in libLLVMOrcTargetProcess; the program exports none of the rest.
llvm_map_components_to_libnames(llvm_libraries orcjit orcdebugging native nvptxcodegen nvptxdesc nvptxinfo passes objcopy)
target_link_libraries(quern_llvm INTERFACE ${llvm_libraries})
file(GLOB llvm_archives RELATIVE "${LLVM_LIBRARY_DIR}" "${LLVM_LIBRARY_DIR}/libLLVM*.a")
list(REMOVE_ITEM llvm_archives libLLVMOrcTargetProcess.a)
list(JOIN llvm_archives ":" llvm_archives)
target_link_options(quern_llvm INTERFACE "-Wl,--exclude-libs=${llvm_archives}"
                    -Wl,-u,llvm_orc_registerJITLoaderGDBWrapper -Wl,-u,llvm_orc_registerJITLoaderGDBAllocAction)

find_package(antlr4-runtime CONFIG REQUIRED)
find_program(QUERN_ANTLR antlr4 REQUIRED)

# Of XGBoost only its header is used at build time; the library is opened when a cost model is first used.
find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h REQUIRED)
add_library(quern_xgboost_headers INTERFACE)
target_include_directories(quern_xgboost_headers SYSTEM INTERFACE ${XGBOOST_INCLUDE_DIR})
file(READ "${XGBOOST_INCLUDE_DIR}/xgboost/version_config.h" xgboost_version_header)
set(XGBOOST_VERSION "")
foreach(part MAJOR MINOR PATCH)
  if(xgboost_version_header MATCHES "XGBOOST_VER_${part} ([0-9]+)")
    list(APPEND XGBOOST_VERSION "${CMAKE_MATCH_1}")
  endif()
endforeach()
list(JOIN XGBOOST_VERSION "." XGBOOST_VERSION)

# Of CUDA only cuda.h is used at build time; its libraries are opened at run time, where present.
if(NOT CUDAToolkit_ROOT AND EXISTS /usr/local/cuda)
  set(CUDAToolkit_ROOT /usr/local/cuda)
endif()
find_package(CUDAToolkit QUIET)
add_library(quern_cuda_headers INTERFACE)
set(QUERN_HAS_CUDA 0)
set(QUERN_CUDA_VERSION "")
set(QUERN_CUDA_ROOT "")
if(CUDAToolkit_FOUND)
  set(QUERN_HAS_CUDA 1)
  set(QUERN_CUDA_VERSION "${CUDAToolkit_VERSION}")
  cmake_path(GET CUDAToolkit_BIN_DIR PARENT_PATH QUERN_CUDA_ROOT)
  target_include_directories(quern_cuda_headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
endif()

configure_file("${PROJECT_SOURCE_DIR}/cmake/config.h.in" "${PROJECT_BINARY_DIR}/generated/config.h" @ONLY)

# The Jupyter kernel, where its protocol is there.
find_package(xeus QUIET)

# ONNX's format and the compiler for that of TensorFlow (import/tensorflow/graph.proto), for `quern import`, where they are. (ONNX's
# CMake package brings flags of its own build.)
find_package(Protobuf QUIET)
find_library(ONNX_PROTO_LIBRARY onnx_proto)
find_path(ONNX_INCLUDE_DIR onnx/onnx_pb.h)
if(Protobuf_FOUND AND TARGET protobuf::protoc AND ONNX_PROTO_LIBRARY AND ONNX_INCLUDE_DIR)
  add_library(onnx_proto INTERFACE)
  target_include_directories(onnx_proto SYSTEM INTERFACE ${ONNX_INCLUDE_DIR})
  target_compile_definitions(onnx_proto INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
  target_link_libraries(onnx_proto INTERFACE "${ONNX_PROTO_LIBRARY}" protobuf::libprotobuf)
endif()
