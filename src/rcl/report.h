/* What `timebase run --check` prints: with TIMEBASE_RCL_REPORT=FILE each process that has ROS
 * clocks appends a line of JSON at its first one and at its end, and one whose librcl is of an
 * unknown release when that is found. */
#ifndef TB_RCL_REPORT_H
#define TB_RCL_REPORT_H

/* `event`: "first_clock", "exit" or "left_alone". Does nothing without the variable. */
void tb__report_write(const char *event);

#endif
