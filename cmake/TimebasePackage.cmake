# What `cmake --install` and cpack make of the libraries, the command and the demo bag.
include(CMakePackageConfigHelpers)

set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/timebase)
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(generated ${PROJECT_BINARY_DIR}/package)

# What is built for users: `scripts/build` makes this and leaves tests and benchmarks alone.
add_custom_target(products)

# The prefix, as seen from a .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})

foreach(component IN LISTS timebase_components)
  set(target timebase-${component})
  add_dependencies(products ${target})
  install(TARGETS ${target} EXPORT timebase-${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(EXPORT timebase-${component} NAMESPACE timebase:: DESTINATION ${cmake_folder}
    FILE ${component}Targets.cmake COMPONENT development)

  get_target_property(headers ${target} TB_HEADERS)
  if(headers)
    list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/include/timebase/)
    install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/timebase
      COMPONENT development)
  endif()

  get_target_property(pc_name ${target} OUTPUT_NAME)
  get_target_property(pc_components ${target} TB_COMPONENTS)
  get_target_property(pc_modules ${target} TB_REQUIRES)
  get_target_property(pc_libs ${target} TB_LIBS)
  set(siblings "")
  foreach(sibling IN LISTS pc_components)
    get_target_property(sibling_name timebase-${sibling} OUTPUT_NAME)
    list(APPEND siblings "${sibling_name} = ${PROJECT_VERSION}")
  endforeach()
  list(JOIN pc_libs " " pc_libs)
  # What a static library needs, its users must link; what a shared one needs, it brings.
  set(pc_requires_private "")
  set(pc_libs_private "")
  if(BUILD_SHARED_LIBS)
    set(pc_libs_private "${pc_libs}")
    set(pc_libs "")
  else()
    list(APPEND siblings ${pc_modules})
  endif()
  list(JOIN siblings ", " pc_requires)
  configure_file(cmake/timebase.pc.in ${generated}/${pc_name}.pc @ONLY)
  install(FILES ${generated}/${pc_name}.pc DESTINATION ${pkgconfig_folder}
    COMPONENT development)
endforeach()

set(timebase_static ON)
if(BUILD_SHARED_LIBS)
  set(timebase_static OFF)
endif()
configure_package_config_file(cmake/timebaseConfig.cmake.in ${generated}/timebaseConfig.cmake
  INSTALL_DESTINATION ${cmake_folder} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${generated}/timebaseConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${generated}/timebaseConfig.cmake ${generated}/timebaseConfigVersion.cmake
  DESTINATION ${cmake_folder} COMPONENT development)

if(TARGET timebase_cli)
  file(RELATIVE_PATH lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set(lib_folders $ORIGIN/${lib_from_bin} $ORIGIN/../lib) # installed, and in the build tree
  list(REMOVE_DUPLICATES lib_folders)
  set_target_properties(timebase_cli PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
    INSTALL_RPATH "${lib_folders}"
    BUILD_WITH_INSTALL_RPATH ON) # as in TimebaseLibraries
  install(TARGETS timebase_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  add_dependencies(products timebase_cli)
endif()
if(TARGET timebase-rcl)
  # With the command, which preloads it; its name has no ABI in it.
  install(TARGETS timebase-rcl LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT command)
  add_dependencies(products timebase-rcl)
endif()
if(TARGET demo_bag)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/timebase/bags/demo
    DESTINATION ${CMAKE_INSTALL_DATADIR}/timebase/bags COMPONENT command)
  add_dependencies(products demo_bag)
endif()
get_property(timebase_examples GLOBAL PROPERTY timebase_examples)
if(timebase_examples)
  add_dependencies(products ${timebase_examples})
endif()
install(FILES LICENSE SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
install(FILES docs/limits.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
  COMPONENT command) # to which it refers
install(FILES package.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/timebase COMPONENT command)

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(CPACK_PACKAGE_NAME timebase)
set(CPACK_PACKAGE_VENDOR timebase)
set(CPACK_PACKAGE_CONTACT "The timebase authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "ROS time for C: clocks, simulated time, and a command")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)

# Three packages. The libraries have the ABI in the name, so that those of two minors can be installed.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL libraries development command)
set(libraries_package libtimebase${TB_SOVERSION})
set(CPACK_COMPONENT_LIBRARIES_DESCRIPTION "ROS time for C: the libraries")
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_NAME ${libraries_package})
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "ROS time for C: headers, and files for pkg-config and CMake")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtimebase-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${libraries_package} (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "ROS time for C: the command, and a demo recording")
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME timebase)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "${libraries_package} (= ${PROJECT_VERSION})")
if(TB_WITH_ROS2)
  # Raw samples know structures inside of Cyclone DDS, which change between its releases: the package
  # holds on to the one that it was built with.
  string(REGEX MATCH "^([0-9]+\\.[0-9]+)\\.([0-9]+)" dds_release "${CycloneDDS_VERSION}")
  if(NOT dds_release)
    message(FATAL_ERROR "Cyclone DDS has a version that is not understood: ${CycloneDDS_VERSION}")
  endif()
  math(EXPR dds_next_patch "${CMAKE_MATCH_2} + 1")
  set(dds_next_release ${CMAKE_MATCH_1}.${dds_next_patch})
  # The package that holds the library: libddsc0debian, libddsc0t64 or ROS's, by release.
  set(dds_package libddsc0debian)
  get_target_property(dds_library CycloneDDS::ddsc LOCATION)
  file(REAL_PATH "${dds_library}" dds_library)
  execute_process(COMMAND dpkg-query -S ${dds_library} OUTPUT_VARIABLE dds_owner ERROR_QUIET)
  if(dds_owner MATCHES "^([a-z0-9][a-z0-9.+-]+)(:[a-z0-9]+)?: ")
    set(dds_package ${CMAKE_MATCH_1})
  endif()
  set(CPACK_DEBIAN_LIBRARIES_PACKAGE_DEPENDS
    "${dds_package} (>= ${dds_release}), ${dds_package} (<< ${dds_next_release}~)")
endif()
include(CPack)
