/* Controlling a player from the graph: the player's services of rosbag2_interfaces. */
#ifndef TIMEBASE_ROS2_PLAYER_SERVICES_H
#define TIMEBASE_ROS2_PLAYER_SERVICES_H

#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/player.h>
#include <timebase/ros2_node.h>

/** The services of one player. */
typedef struct tb_ros2_player_services tb_ros2_player_services_t;

TB_BEGIN_DECLS

/** Offers, below the node's name (rosbag2's tools look below /rosbag2_player): pause, resume,
 * toggle_paused, is_paused, get_rate, set_rate, play_next, burst, seek, play and stop, and state
 * (std_srvs/srv/Trigger, whose message is playing, paused or stopped). As rosbag2's player, but:
 *
 * - seek answers success=false where tb_player_seek fails, and nothing has moved then. Outside the
 *   recording Seek.srv asks for that ("true if valid time in bag duration"); rosbag2's player
 *   always answers true
 * - play honours start_offset, which counts from the start of the recording, and answers
 *   success=false to a negative offset or time; a playback_until_timestamp of 0 sets no limit, a
 *   playback_duration of 0 without one plays nothing, as in rosbag2
 * - play_next and burst that come before tb_player_run are carried out and answered once it runs
 * - stop ends tb_player_run as tb_player_stop does. With on_demand or keep_alive it halts the
 * player (tb_player_halt) until play; meanwhile is_paused answers true, and resume does nothing
 * - set_rate with infinity plays as fast as possible
 *
 * Rolling has added fields to Stop and Resume, which have none in jazzy. Clients of both are
 * served, each in the form that its type hash or its request shows; the type hashes announced are
 * those of jazzy. The response of stop to a client of rolling has return_code (1: it was stopped
 * already) and error_string, and so has that to a request of resume with resume_time: 1 for a
 * resume_mode that does not exist, 3 for a player that is stopped; both leave it paused. A request
 * with a resume_time that is to come (with resume_mode 0), or a start_time of play, is answered at
 * once and carried out at that time of the node's clock, unless a later one takes its place.
 *
 * Destroy it before the player and the node.
 *
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT, TB_ERR_SYSTEM (no thread), TB_ERR_INVALID, TB_ERR_FORKED
 *
 * [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_player_services_create(tb_ros2_node_t *node,
                                                                 tb_player_t *player,
                                                                 tb_ros2_player_services_t **out,
                                                                 tb_error_t *error);

/** Accepts NULL. A burst that has not come to its end is answered with what was sent.
 * [any thread] [blocks: until running callbacks have returned] */
TB_API void tb_ros2_player_services_destroy(tb_ros2_player_services_t *services);

TB_END_DECLS

#endif
