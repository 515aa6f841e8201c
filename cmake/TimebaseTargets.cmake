# Compile settings of the project, and helpers that each folder uses to add its parts.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

find_package(Threads REQUIRED)

# For everything; programs that see only the public API take no more.
add_library(timebase_warnings INTERFACE)
target_compile_options(timebase_warnings INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
  -Wwrite-strings $<$<BOOL:${TB_WERROR}>:-Werror> $<$<C_COMPILER_ID:Clang>:-Wthread-safety>)

include(TimebaseHardening)

# For the insides of the library and what tests them.
add_library(timebase_settings INTERFACE)
# TB_CHECKED: assertions (src/base/assert.h); sanitizer builds have them by themselves.
target_compile_definitions(timebase_settings INTERFACE _GNU_SOURCE
  $<$<CONFIG:Debug>:TB_CHECKED=1>)
target_include_directories(timebase_settings INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(timebase_settings INTERFACE timebase_warnings Threads::Threads)
if(TB_SANITIZE)
  target_compile_options(timebase_warnings INTERFACE -fsanitize=${TB_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(timebase_warnings INTERFACE -fsanitize=${TB_SANITIZE})
  # Clang does not say which sanitizer it compiles for, as GCC does.
  if(CMAKE_C_COMPILER_ID STREQUAL "Clang" AND TB_SANITIZE MATCHES "address|thread")
    string(TOUPPER "__SANITIZE_${CMAKE_MATCH_0}__" sanitizer)
    target_compile_definitions(timebase_warnings INTERFACE ${sanitizer}=1)
  endif()
endif()

# timebase_part(folder SOURCES... [LIBRARIES...] [TEST_PRESETS...] [TEST_SOURCES...] [TEST_LIBRARIES...]): one folder
# of src/ as an archive `timebase_<folder>`, and every `*_test.c` beside it as a unit test, all of them in one program.
function(timebase_part folder)
  cmake_parse_arguments(part "" "" "SOURCES;LIBRARIES;TEST_PRESETS;TEST_SOURCES;TEST_LIBRARIES" ${ARGN})
  add_library(timebase_${folder} STATIC ${part_SOURCES})
  set_property(GLOBAL APPEND PROPERTY timebase_parts timebase_${folder})
  target_link_libraries(timebase_${folder} PUBLIC timebase_settings ${part_LIBRARIES})
  # Memory comes from the process's allocator (timebase/allocator.h).
  target_compile_options(timebase_${folder} PRIVATE
    "SHELL:-include ${PROJECT_SOURCE_DIR}/src/base/allocator_names.h")
  if(TB_BUILD_TESTS)
    file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.c)
    if(tests)
      timebase_test_program(${folder}_tests unit ${folder}_ FILES ${tests} PRESETS ${part_TEST_PRESETS}
        SOURCES ${part_TEST_SOURCES} LIBRARIES timebase_${folder} ${part_TEST_LIBRARIES})
    endif()
  endif()
endfunction()
