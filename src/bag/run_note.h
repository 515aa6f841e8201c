/* How metadata.yaml notes where the runs of a recording begin: an entry of custom_data for each but
 * the first. */
#ifndef TB_BAG_RUN_NOTE_H
#define TB_BAG_RUN_NOTE_H

#define TB__RUN_KEY_PREFIX "timebase_run_" /* and its number, from 2 on */
#define TB__RUN_VALUE      "first_file="   /* and an index into relative_file_paths */

#endif
