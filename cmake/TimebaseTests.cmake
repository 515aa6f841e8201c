# Helpers that each folder uses to add its tests. Included with TB_BUILD_TESTS only.

# What the tests of this build need is built with everything else; programs of tests that are left out are not.
add_custom_target(timebase_tests ALL)

# Ceilings of processor time in seconds that are not the default, checked by scripts/test --times.
# They are the order of tests, too: the expensive ones start first.
set(TB_TEST_BUDGETS ${PROJECT_SOURCE_DIR}/tests/budget.txt)
file(STRINGS ${TB_TEST_BUDGETS} lines REGEX "^[a-z]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TB_TEST_BUDGETS})
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([^ ]+) +([0-9]+) " _ "${line}")
  set_property(GLOBAL PROPERTY timebase_test_ceiling_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()

# Starts each test: measures it, and fails it for processes that it leaves behind.
add_executable(test_launch EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/launch.c)
target_compile_definitions(test_launch PRIVATE _GNU_SOURCE)
if(NOT TB_SANITIZE)
  target_link_libraries(test_launch PRIVATE timebase_warnings)
endif()

# For programs of tests: what they measure is not how fast they are themselves.
add_library(timebase_test_settings INTERFACE)
target_include_directories(timebase_test_settings INTERFACE ${PROJECT_SOURCE_DIR}/tests)
target_compile_options(timebase_test_settings INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wno-missing-prototypes>)
if(NOT TB_SANITIZE)
  target_compile_options(timebase_test_settings INTERFACE -O0 -U_FORTIFY_SOURCE)
endif()

# Of the tests of this build, those that only `scripts/test --full` runs are left out without it.
option(TB_FULL_TESTS "Tests with foreign peers, of packages, and those that take long" OFF)

set(TB_PRESET release)
if(TB_SANITIZE MATCHES thread)
  set(TB_PRESET tsan)
elseif(TB_SANITIZE)
  set(TB_PRESET asan)
endif()

# timebase_test(name label [PRESETS preset...] [SLOTS n] [HOST_NETWORK] COMMAND program [argument...]): one test.
#   label    unit, system (real processes), or full: of scripts/test --full alone
#   PRESETS  where it runs, of release, asan and tsan; default: a unit test in all, the others in release
#   SLOTS    how much of a processor it keeps busy, in eighths; default: a unit test 8, the others 1. What only waits
#            runs many at a time.
#   HOST_NETWORK  with the network of the machine, not with a loopback interface of its own
# A test that ends with 77 is skipped, but for a unit test.
function(timebase_test name label)
  cmake_parse_arguments(test "HOST_NETWORK" "SLOTS" "PRESETS;COMMAND" ${ARGN})
  set(PRESETS release)
  set(SLOTS 1)
  set(ceiling 5)
  if(label STREQUAL "unit")
    set(PRESETS release asan tsan)
    set(SLOTS 8)
    set(ceiling 2)
  endif()
  foreach(option PRESETS SLOTS)
    if(NOT test_${option})
      set(test_${option} ${${option}})
    endif()
  endforeach()
  if(NOT TB_PRESET IN_LIST test_PRESETS OR (label STREQUAL "full" AND NOT TB_FULL_TESTS))
    return()
  endif()
  # Under thread sanitizer what waits elsewhere computes, too.
  if(TB_PRESET STREQUAL "tsan" AND NOT label STREQUAL "unit")
    math(EXPR test_SLOTS "${test_SLOTS} * 4")
    if(test_SLOTS GREATER 8)
      set(test_SLOTS 8)
    endif()
  endif()
  list(POP_FRONT test_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  list(PREPEND test_COMMAND ${program})
  string(REGEX MATCHALL "TARGET_FILE(_DIR)?:[A-Za-z0-9_:-]+" programs "${test_COMMAND}")
  list(TRANSFORM programs REPLACE "^TARGET_FILE(_DIR)?:" "")
  add_dependencies(timebase_tests test_launch ${programs})
  get_property(own_ceiling GLOBAL PROPERTY timebase_test_ceiling_${name})
  if(own_ceiling)
    set(ceiling ${own_ceiling})
  endif()
  set(options "")
  if(TB_PRESET STREQUAL "release")
    list(APPEND options --ceiling=${ceiling})
  endif()
  if(test_HOST_NETWORK)
    list(APPEND options --host-network)
  endif()
  add_test(NAME ${name} COMMAND test_launch ${options} ${name} ${test_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 1200 PROCESSORS ${test_SLOTS} COST ${ceiling})
  if(NOT label STREQUAL "unit")
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  # The library of DDS that the distribution has knows nothing of thread sanitizer.
  if(TB_PRESET STREQUAL "tsan")
    set_property(TEST ${name} APPEND PROPERTY
      ENVIRONMENT TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp)
  endif()
endfunction()

# timebase_test_program(program label prefix FILES file... [PRESETS preset...] [SOURCES file...] [LIBRARIES...]
#   [DEFINITIONS...]): one program with the tests of several FILES, each of which is a test `<prefix><file>` and a
# process of its own: the first argument of the program names the file.
function(timebase_test_program program label prefix)
  cmake_parse_arguments(arg "" "" "FILES;PRESETS;SOURCES;LIBRARIES;DEFINITIONS" ${ARGN})
  set(TB_DECLARATIONS "")
  set(TB_ENTRIES "")
  foreach(file IN LISTS arg_FILES)
    get_filename_component(name ${file} NAME_WE)
    get_filename_component(path ${file} ABSOLUTE)
    file(STRINGS ${path} takes_arguments REGEX "^int main\\(int argc")
    if(takes_arguments)
      string(APPEND TB_DECLARATIONS "int ${name}_main(int argc, char **argv);\n")
      string(APPEND TB_ENTRIES "  {\"${name}\", NULL, ${name}_main},\n")
    else()
      string(APPEND TB_DECLARATIONS "int ${name}_main(void);\n")
      string(APPEND TB_ENTRIES "  {\"${name}\", ${name}_main, NULL},\n")
    endif()
    set_property(SOURCE ${path} APPEND PROPERTY COMPILE_DEFINITIONS main=${name}_main)
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/tests/runner.c.in ${CMAKE_CURRENT_BINARY_DIR}/${program}_runner.c @ONLY)
  add_executable(${program} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/${program}_runner.c ${arg_FILES} ${arg_SOURCES})
  target_compile_definitions(${program} PRIVATE ${arg_DEFINITIONS})
  target_link_libraries(${program} PRIVATE timebase_settings timebase_test_settings ${arg_LIBRARIES} cmocka)
  foreach(file IN LISTS arg_FILES)
    get_filename_component(name ${file} NAME_WE)
    timebase_test(${prefix}${name} ${label} PRESETS ${arg_PRESETS} COMMAND ${program} ${name})
    # What tests/forking.h says is of the whole program, which has files that are not meant.
    file(STRINGS ${file} forks REGEX "forking\\.h")
    if(NOT forks AND TEST ${prefix}${name} AND TB_PRESET STREQUAL "tsan")
      set_tests_properties(${prefix}${name} PROPERTIES
        ENVIRONMENT TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp:report_thread_leaks=1)
    endif()
  endforeach()
endfunction()

# timebase_unit_test(name source [PRESETS preset...] LIBRARIES...): a unit test with a program of its own, whose links or definitions no
# other may have.
function(timebase_unit_test name source)
  cmake_parse_arguments(unit "" "" "PRESETS;LIBRARIES" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE timebase_settings timebase_test_settings ${unit_LIBRARIES} cmocka)
  timebase_test(${name} unit PRESETS ${unit_PRESETS} COMMAND ${name})
endfunction()
