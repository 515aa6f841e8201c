/* What `timebase run --check` reads: with TIMEBASE_RCL_REPORT=FILE[:FILE...] each process that has
 * ROS clocks appends a line of JSON to each FILE at its first one and at its end, and one that is
 * left alone (its librcl is of an unknown release, or the time cannot be opened) when that is
 * found. */
#ifndef TB_RCL_REPORT_H
#define TB_RCL_REPORT_H

/* `event`: "first_clock", "exit" or "left_alone". Does nothing without the variable. */
void tb__report_write(const char *event);

#endif
