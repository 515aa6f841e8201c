# Finds Cyclone DDS, of a release with which the raw samples have been tried: they use structures that
# are internal to it. Which of these releases a build takes does not matter, but a build runs only
# with the one that it was compiled for (src/dds/library.c). Included in each folder that uses it,
# because its targets belong to the folder.
set(TIMEBASE_CYCLONE_FIRST 0.10.2)
set(TIMEBASE_CYCLONE_LAST 0.10.5)

# Version files that know no ranges look at the lower end only.
find_package(CycloneDDS ${TIMEBASE_CYCLONE_FIRST}...${TIMEBASE_CYCLONE_LAST} QUIET)
if(NOT CycloneDDS_FOUND OR CycloneDDS_VERSION VERSION_GREATER TIMEBASE_CYCLONE_LAST)
  set(timebase_cyclone_seen ${CycloneDDS_VERSION} ${CycloneDDS_CONSIDERED_VERSIONS})
  list(REMOVE_DUPLICATES timebase_cyclone_seen)
  list(JOIN timebase_cyclone_seen ", " timebase_cyclone_seen)
  if(NOT timebase_cyclone_seen)
    set(timebase_cyclone_seen "none")
  endif()
  message(FATAL_ERROR "Cyclone DDS ${TIMEBASE_CYCLONE_FIRST} to ${TIMEBASE_CYCLONE_LAST} is needed; "
    "found: ${timebase_cyclone_seen}. Debian 12 and Ubuntu 24.04 have it as cyclonedds-dev. On Ubuntu "
    "22.04 install ros-humble-cyclonedds and source /opt/ros/humble/setup.bash first. For one that is "
    "installed elsewhere, add its prefix to CMAKE_PREFIX_PATH. TB_WITH_ROS2=OFF builds without it.")
endif()
