/* What the recorder adds to a recording for those who have to explain its times: the manifest, and
 * points at which all clocks were read. */
#ifndef TB_CLI_BAG_EVIDENCE_H
#define TB_CLI_BAG_EVIDENCE_H

#include <jansson.h>
#include <timebase/bag_reader.h>

#include "contract/manifest.h"
#include "contract/points.h"

#define BAG_EVIDENCE_POINTS_MAX 1000 /* kept: the first ones */

typedef struct bag_evidence {
  char *manifest; /* its text; NULL: there is none */
  tb__point_t *points;
  size_t point_count, point_total;
  bool is_manifest_unread; /* a message holds it, which was not read */
} bag_evidence_t;

/* Reads what can be read of the recording that `info` is of, damaged ones too. Release it
 * afterwards. TB_ERR_NO_MEMORY. */
tb_status_t bag_evidence_read(const tb_bag_info_t *info, const tb_bag_limits_t *limits,
                              bag_evidence_t *out);
/* The same from the notes alone, without reading messages: of points only how many there are. */
tb_status_t bag_evidence_read_notes(const tb_bag_info_t *info, bag_evidence_t *out);
/* The manifest; TB_ERR_NOT_FOUND without one, TB_ERR_CORRUPT if it has errors. To be freed. */
tb_status_t bag_evidence_manifest(const bag_evidence_t *evidence, tb__manifest_t *out);
void bag_evidence_release(bag_evidence_t *evidence);

/* Lines of text, one for each point. */
void bag_evidence_print_points(const bag_evidence_t *evidence);
json_t *bag_evidence_point_json(const tb__point_t *point);

#endif
