/* How many bytes something of fixed layout takes in CDR, padding before it and within it included.
 * That depends on where it begins, modulo the greatest alignment of 8. Pure. */
#ifndef TB_DEFINITION_EXTENT_H
#define TB_DEFINITION_EXTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TB__EXTENT_MAX 0x7fffffffu /* more than a message has: it stays at that */

typedef struct tb__extent {
  uint32_t size[8]; /* by place modulo 8 */
} tb__extent_t;

/* Of a number of 1, 2, 4 or 8 bytes; `is_packed`: nothing is aligned, as in ROS 1. */
tb__extent_t tb__extent_of_number(uint32_t width, bool is_packed);

/* Of `count` of them, one after the other, from `at` on. */
uint64_t tb__extent_times(const tb__extent_t *extent, uint64_t at, uint32_t count);

/* *extent, and after it `count` times `next`. */
void tb__extent_append(tb__extent_t *extent, const tb__extent_t *next, uint32_t count);

#endif
