# The libraries, assembled from the parts in src/. Each part is in exactly one of them, but for
# `yaml`: it has no state, and is hidden inside of each library that reads YAML.
include(TimebaseHeaders)

if(TB_WITH_BAG OR TB_WITH_ROS2)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
  set(contract_yaml PkgConfig::yaml)
  set(contract_yaml_requires yaml-0.1)
endif()
if(TB_WITH_BAG)
  find_package(SQLite3 REQUIRED)
  find_package(BZip2 REQUIRED)
  pkg_check_modules(mcap REQUIRED IMPORTED_TARGET libzstd liblz4 libxxhash libdeflate)
  pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8)
endif()
if(TB_WITH_ROS2)
  include(TimebaseCyclone)
endif()

set(timebase_components "")
set_property(GLOBAL PROPERTY timebase_parts_used "")

# timebase_library(component PARTS part... [COMPONENTS component...] [LIBRARIES library...]
#   [REQUIRES pkg-config-module...] [LIBS linker-flag...])
# One library, if its first part is built: `timebase::<component>`, in a file libtimebase-<component>
# (libtimebase for the core). COMPONENTS are the siblings below it; REQUIRES and LIBS are what a
# program that links it statically needs, for the pkg-config file.
function(timebase_library component)
  cmake_parse_arguments(library "" "" "PARTS;COMPONENTS;LIBRARIES;REQUIRES;LIBS" ${ARGN})
  list(GET library_PARTS 0 first)
  if(NOT TARGET timebase_${first})
    return()
  endif()
  set(target timebase-${component})
  string(REPLACE "-" "_" id ${component})
  set(name timebase-${component})
  set(node TIMEBASE_${id})
  if(component STREQUAL "core")
    set(name timebase)
    set(node TIMEBASE)
  endif()
  string(TOUPPER ${node} node)

  add_library(${target})
  add_library(timebase::${component} ALIAS ${target})
  foreach(part IN LISTS library_PARTS)
    if(TARGET timebase_${part})
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:timebase_${part}>)
      set_property(GLOBAL APPEND PROPERTY timebase_parts_used timebase_${part})
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:timebase_settings> Threads::Threads
    ${library_LIBRARIES})
  foreach(sibling IN LISTS library_COMPONENTS)
    target_link_libraries(${target} PUBLIC timebase-${sibling})
  endforeach()
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE C
    OUTPUT_NAME ${name}
    EXPORT_NAME ${component}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${TB_SOVERSION}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    INSTALL_RPATH $ORIGIN
    BUILD_WITH_INSTALL_RPATH ON # else CMake pads it with empty entries: the working directory
    TB_HEADERS "${timebase_${id}_headers}"
    TB_COMPONENTS "${library_COMPONENTS}"
    TB_REQUIRES "${library_REQUIRES}"
    TB_LIBS "${library_LIBS}")

  if(BUILD_SHARED_LIBS)
    set(map ${PROJECT_BINARY_DIR}/lib/${name}.map)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/version-script.map.in ${map} @ONLY)
    target_link_options(${target} PRIVATE LINKER:--version-script=${map} LINKER:-Bsymbolic-functions)
    # The run-time of a sanitizer is in the program, not in its libraries.
    if(NOT TB_SANITIZE)
      target_link_options(${target} PRIVATE LINKER:-z,defs)
    endif()
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
  endif()
  set(timebase_components ${timebase_components} ${component} PARENT_SCOPE)
endfunction()

timebase_library(core
  PARTS base platform held value clock wait source server measure
  LIBRARIES m
  LIBS -lm -lpthread)
timebase_library(ros2
  PARTS ros2 params wire dds
  COMPONENTS core
  LIBRARIES CycloneDDS::ddsc PkgConfig::yaml m
  REQUIRES CycloneDDS yaml-0.1)
timebase_library(ros1
  PARTS ros1
  COMPONENTS core
  LIBRARIES PkgConfig::ros1 m
  REQUIRES expat libmicrohttpd)
if(TARGET timebase-ros1 AND BUILD_SHARED_LIBS)
  # A resolver that hangs returns on its own thread, perhaps after the program has closed the library.
  target_link_options(timebase-ros1 PRIVATE LINKER:-z,nodelete)
endif()
timebase_library(bag
  PARTS play bag rosbag1 mcap sqlite storage yaml
  COMPONENTS core
  LIBRARIES SQLite::SQLite3 BZip2::BZip2 PkgConfig::yaml PkgConfig::mcap PkgConfig::pcre2
  REQUIRES sqlite3 yaml-0.1 libzstd liblz4 libxxhash libdeflate libpcre2-8
  LIBS -lbz2)
timebase_library(contract
  PARTS definition contract yaml
  COMPONENTS core
  LIBRARIES ${contract_yaml} ${microhttpd_target} m
  REQUIRES ${contract_yaml_requires} ${microhttpd_requires})
timebase_library(ros1-bag
  PARTS ros1bag
  COMPONENTS ros1 bag contract)
timebase_library(ros2-bag
  PARTS rosbag2
  COMPONENTS ros2 bag contract)

# A part that is in no library would be missed by its users only.
get_property(parts GLOBAL PROPERTY timebase_parts)
get_property(used GLOBAL PROPERTY timebase_parts_used)
foreach(part IN LISTS parts)
  if(NOT part IN_LIST used)
    message(FATAL_ERROR "${part} is in no library: name it in cmake/TimebaseLibraries.cmake")
  endif()
endforeach()

# What is preloaded into nodes of ROS 2 that nobody has changed. The core is inside of it and hidden,
# so a program's own libtimebase, of any release, lives beside it; only librcl's functions are
# exported. It is no library to link with: no soname, no headers.
if(TARGET timebase_rcl)
  add_library(timebase-rcl SHARED)
  foreach(part rcl base platform held value clock wait source)
    target_sources(timebase-rcl PRIVATE $<TARGET_OBJECTS:timebase_${part}>)
  endforeach()
  target_link_libraries(timebase-rcl PRIVATE timebase_settings Threads::Threads m ${CMAKE_DL_LIBS})
  set_target_properties(timebase-rcl PROPERTIES
    LINKER_LANGUAGE C
    NO_SONAME ON
    INSTALL_RPATH $ORIGIN # as the others, though it needs none of them
    BUILD_WITH_INSTALL_RPATH ON
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/timebase-rcl.map)
  target_link_options(timebase-rcl PRIVATE -static-libgcc
    LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/timebase-rcl.map LINKER:-z,nodelete)
  if(NOT TB_SANITIZE)
    target_link_options(timebase-rcl PRIVATE LINKER:-z,defs)
  endif()
endif()
