# One library per room of the house. Sources are globbed, so that adding a pass or a feature touches no
# CMake file, and a room without sources is an empty interface library.

# quern_shared_pch(<target> <header>): a precompiled header, built once and shared by the rooms that name the target.
function(quern_shared_pch target header)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/${target}.cpp" CONTENT "// Owns a shared precompiled header.\n")
  add_library(${target} OBJECT "${PROJECT_BINARY_DIR}/generated/${target}.cpp")
  target_link_libraries(${target} PUBLIC quern_settings fmt::fmt)
  target_precompile_headers(${target} PRIVATE "${PROJECT_SOURCE_DIR}/${header}")
endfunction()
# The standard library, for every room that names no other.
quern_shared_pch(quern_pch_std cmake/pch/std.h)
# A session, for the rooms that ask one.
quern_shared_pch(quern_pch_session cmake/pch/session.h)

# quern_sources(<variable> <folder>...): every .cpp file below the folders.
function(quern_sources variable)
  set(patterns)
  foreach(folder IN LISTS ARGN)
    list(APPEND patterns "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  endforeach()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
  set(${variable} "${sources}" PARENT_SCOPE)
endfunction()

# quern_precompile(<target> <header, target of quern_shared_pch, or empty>): what is precompiled for the target.
function(quern_precompile target pch)
  if(NOT pch)
    target_precompile_headers(${target} REUSE_FROM quern_pch_std)
  elseif(TARGET "${pch}")
    target_precompile_headers(${target} REUSE_FROM "${pch}")
  else()
    target_precompile_headers(${target} PRIVATE "${PROJECT_SOURCE_DIR}/${pch}")
  endif()
endfunction()

# quern_room(<target> ROOT <folder>... [OBJECT] [MATCH|EXCLUDE <regex>] [PCH <header or target>]
#            [OBJECTS <object room>] [GENERATED <file>...] [PUBLIC <target>...] [PRIVATE <target>...])
# OBJECTS takes in the objects of another room and what they need to link, but none of its include folders.
function(quern_room target)
  cmake_parse_arguments(PARSE_ARGV 1 room "OBJECT" "MATCH;EXCLUDE;PCH;OBJECTS" "ROOT;GENERATED;PUBLIC;PRIVATE")
  quern_sources(sources ${room_ROOT})
  if(room_MATCH)
    list(FILTER sources INCLUDE REGEX "${room_MATCH}")
  endif()
  if(room_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${room_EXCLUDE}")
  endif()
  set(objects)
  if(room_OBJECTS)
    get_target_property(type ${room_OBJECTS} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      set(objects $<TARGET_OBJECTS:${room_OBJECTS}>)
    endif()
  endif()

  if(NOT sources AND NOT objects)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${room_PUBLIC})
    return()
  endif()

  if(room_OBJECT)
    add_library(${target} OBJECT ${sources})
  else()
    add_library(${target} STATIC ${sources} ${objects} ${room_GENERATED})
  endif()
  target_link_libraries(${target} PUBLIC quern_settings fmt::fmt ${room_PUBLIC} PRIVATE ${room_PRIVATE})
  if(objects)
    get_target_property(needs ${room_OBJECTS} LINK_LIBRARIES)
    foreach(need IN LISTS needs)
      target_link_libraries(${target} INTERFACE $<LINK_ONLY:${need}>)
    endforeach()
  endif()
  quern_precompile(${target} "${room_PCH}")
endfunction()

# quern_grammar(<target> GRAMMAR <file> PACKAGE <namespace>): the parser that ANTLR makes. Include it as "QuernParser.h".
function(quern_grammar target)
  cmake_parse_arguments(PARSE_ARGV 1 grammar "" "GRAMMAR;PACKAGE" "")
  set(source "${PROJECT_SOURCE_DIR}/${grammar_GRAMMAR}")
  if(NOT EXISTS "${source}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/grammar")
    add_library(${target} INTERFACE)
    return()
  endif()
  cmake_path(GET source STEM name)
  set(folder "${PROJECT_BINARY_DIR}/generated/grammar")
  set(outputs "${folder}/${name}Parser.cpp" "${folder}/${name}Parser.h")
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND "${QUERN_ANTLR}" -Dlanguage=Cpp -no-visitor -no-listener -package ${grammar_PACKAGE} -Werror
            -Xexact-output-dir -o "${folder}" "${source}"
    DEPENDS "${source}"
    COMMENT "Generating the parser from ${grammar_GRAMMAR}"
    VERBATIM)
  add_library(${target} STATIC ${outputs})
  # The generated code is not ours to mend, and its u8 literals expect plain char.
  target_compile_options(${target} PRIVATE -fno-char8_t -w)
  target_include_directories(${target} SYSTEM PUBLIC "${folder}" "${ANTLR4_INCLUDE_DIR}" /usr/include/antlr4-runtime)
  target_compile_options(${target} PUBLIC
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-include ${PROJECT_SOURCE_DIR}/cmake/clang_antlr.h>")
  target_link_libraries(${target} PUBLIC antlr4_static Threads::Threads)
endfunction()

# quern_messages(<target> PROTO <file>): the messages of protobuf that the file declares. Include them as
# <PATH.pb.h>, where PATH.proto is the file.
function(quern_messages target)
  cmake_parse_arguments(PARSE_ARGV 1 messages "" "PROTO" "")
  set(source "${PROJECT_SOURCE_DIR}/${messages_PROTO}")
  set(folder "${PROJECT_BINARY_DIR}/generated/proto")
  cmake_path(REPLACE_EXTENSION messages_PROTO LAST_ONLY OUTPUT_VARIABLE name)
  add_custom_command(
    OUTPUT "${folder}/${name}.pb.cc" "${folder}/${name}.pb.h"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
    COMMAND protobuf::protoc "--proto_path=${PROJECT_SOURCE_DIR}" "--cpp_out=${folder}" "${source}"
    DEPENDS "${source}"
    COMMENT "Generating the messages of ${messages_PROTO}"
    VERBATIM)
  add_library(${target} STATIC "${folder}/${name}.pb.cc" "${folder}/${name}.pb.h")
  # The generated code is not ours to mend.
  target_compile_options(${target} PRIVATE -w)
  target_include_directories(${target} SYSTEM PUBLIC "${folder}")
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
endfunction()

# quern_embedded(<variable> FUNCTION <name> ROOT <folder> FILES <file>...): the C++ file with the function, declared in
# session/texts/embedded.h, that returns the texts of the files.
function(quern_embedded variable)
  cmake_parse_arguments(PARSE_ARGV 1 embedded "" "FUNCTION;ROOT" "FILES")
  set(output "${PROJECT_BINARY_DIR}/generated/${embedded_FUNCTION}.cpp")
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake")
  # The list of names is an input too: a file taken away must leave the binary.
  set(list_file "${PROJECT_BINARY_DIR}/generated/${embedded_FUNCTION}.txt")
  list(JOIN embedded_FILES "\n" names)
  file(CONFIGURE OUTPUT "${list_file}" CONTENT "${names}\n" @ONLY)
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DLIST=${list_file}" "-DROOT=${PROJECT_SOURCE_DIR}/${embedded_ROOT}"
            "-DFUNCTION=${embedded_FUNCTION}" "-DOUTPUT=${output}" -P "${script}"
    DEPENDS ${embedded_FILES} "${list_file}" "${script}"
    COMMENT "Embedding ${embedded_ROOT}"
    VERBATIM)
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()

# quern_image(<variable> FILES <file>...): the C++ file with `embedded_images` of session/texts/embedded.h, made by a program of
# the rooms up to the parser.
function(quern_image variable)
  cmake_parse_arguments(PARSE_ARGV 1 image "" "" "FILES")
  set(output "${PROJECT_BINARY_DIR}/generated/embedded_images.cpp")
  add_executable(quern_library_image tools/library_image.cpp)
  target_link_libraries(quern_library_image PRIVATE quern_settings fmt::fmt quern_frontend)
  add_custom_command(
    OUTPUT "${output}"
    COMMAND quern_library_image "${output}" ${image_FILES}
    DEPENDS quern_library_image ${image_FILES}
    COMMENT "Scanning and parsing the library"
    VERBATIM)
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()

# quern_command(<target> ROOT <folder> PRIVATE <target>...): the program, at the root of the build folder.
function(quern_command target)
  cmake_parse_arguments(PARSE_ARGV 1 command "" "MATCH" "ROOT;PRIVATE")
  quern_sources(sources ${command_ROOT})
  if(command_MATCH)
    list(FILTER sources INCLUDE REGEX "${command_MATCH}")
  endif()
  if(NOT sources)
    return()
  endif()
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE quern_settings fmt::fmt ${command_PRIVATE})
  quern_precompile(${target} quern_pch_session)
  # Compiled kernels call back into the program by symbol, so it exports what it has.
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  install(TARGETS ${target})
endfunction()
