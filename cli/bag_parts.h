/* What files of MCAP hold beside messages: `timebase bag list|get|add`. */
#ifndef TB_CLI_BAG_PARTS_H
#define TB_CLI_BAG_PARTS_H

#include <timebase/bag_reader.h>
#include <timebase/mcap_file.h>

#include "command.h"

typedef struct json_t json_t;

/* Of METADATA, as an object. NULL: no memory. */
json_t *bag_parts_pairs(const tb_mcap_part_t *part);

/* A recording whose files are MCAP. */
typedef struct bag_parts {
  const command_t *command;
  tb_bag_reader_t *reader;
  const tb_bag_info_t *info;
} bag_parts_t;

/* `what`, "chunks", is what others do not have. EXIT_OK, or a message was printed. Close it in any
 * case. */
int bag_parts_open(bag_parts_t *parts, const command_t *command, const char *path,
                   const char *what);
void bag_parts_close(bag_parts_t *parts);

/* The records of that kind, a line each, or with `is_json` an object each. EXIT_OK, or a message
 * was printed. */
int bag_parts_list(const command_t *command, const char *const *paths, size_t count,
                   tb_mcap_part_kind_t kind, bool is_json);

/* "chunks" */
const char *bag_parts_name(tb_mcap_part_kind_t kind);

#endif
