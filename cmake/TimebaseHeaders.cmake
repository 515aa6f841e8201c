# The public headers, by the library that they belong to. This is the one list: installation, the
# checks of headers and scripts/check-layers read it.
set(timebase_core_headers
  timebase.h allocator.h arithmetic.h cancel_token.h clock.h clock_server.h condition.h duration.h error.h export.h extrapolating_source.h generic.h histogram.h jump.h log.h
  manual_source.h publish_guard.h qos.h rate.h ready.h reset.h shm_publisher.h shm_readers.h shm_source.h sleep.h source.h stamper.h statistics.h status.h steady_clock.h steady_time.h testing.h text.h time.h tick_sink.h timeline.h timer.h watchdog.h)
set(timebase_ros2_headers
  ros2_arguments.h ros2_client.h ros2_clock_publisher.h ros2_clock_source.h ros2_context.h ros2_diagnostics.h
  ros2_graph.h ros2_idl.h ros2_lifecycle.h ros2_node.h
  ros2_parameter.h ros2_parameter_client.h ros2_publisher.h ros2_sample.h ros2_service.h ros2_simulation_services.h ros2_statistics.h
  ros2_subscription.h ros2_type_hash.h)
set(timebase_ros1_headers
  ros1_clock_publisher.h ros1_clock_source.h ros1_context.h ros1_graph.h ros1_parameter.h ros1_publisher.h
  ros1_subscription.h ros1_topics.h)
set(timebase_bag_headers
  bag_check.h bag_reader.h bag_writer.h mcap_file.h play_transport.h player.h qos_overrides.h recorder.h topic_expression.h)
set(timebase_contract_headers
  message_definition.h metrics_server.h reencoder.h)
set(timebase_ros1_bag_headers
  ros1_play_transport.h ros1_recorder.h)
set(timebase_ros2_bag_headers
  ros2_play_transport.h ros2_player_services.h ros2_recorder.h)

file(GLOB found RELATIVE ${PROJECT_SOURCE_DIR}/include/timebase CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/timebase/*.h)
set(listed ${timebase_core_headers} ${timebase_ros2_headers} ${timebase_ros1_headers}
  ${timebase_bag_headers}
  ${timebase_contract_headers} ${timebase_ros1_bag_headers} ${timebase_ros2_bag_headers})
foreach(header IN LISTS found)
  if(NOT header IN_LIST listed)
    message(FATAL_ERROR "include/timebase/${header} is in no list of cmake/TimebaseHeaders.cmake: "
      "add it to the library that it belongs to")
  endif()
endforeach()
foreach(header IN LISTS listed)
  if(NOT header IN_LIST found)
    message(FATAL_ERROR "cmake/TimebaseHeaders.cmake lists ${header}, which is not in "
      "include/timebase")
  endif()
endforeach()
unset(found)
unset(listed)
