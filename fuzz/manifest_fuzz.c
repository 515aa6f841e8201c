/* Bytes as a manifest, and as a point: what is accepted can be asked about any name. */
#include <stdlib.h>
#include <string.h>

#include "contract/manifest.h"
#include "contract/points.h"
#include "fuzz.h"

static void ask(const tb__manifest_t *manifest, const char *name)
{
  bool declared;
  const tb__manifest_node_t *node = tb__manifest_node(manifest, name, &declared);
  const tb__manifest_topic_t *topic = tb__manifest_topic(manifest, name, &declared);
  if (!node || !topic || !node->bases[TB__KIND_HARDWARE_TIMEOUTS]) abort();
  if (topic->limits.age_min_ns > topic->limits.age_max_ns) abort();
  for (int rule = 0; rule < TB__RULE_COUNT; rule++)
    tb__manifest_off_reason(manifest, (tb__rule_id_t)rule, name);
}

static void check(const tb__manifest_t *manifest)
{
  if (!manifest->mode || (manifest->mode == TB__MODE_VEHICLE) != !manifest->clock.topic) abort();
  for (size_t i = 0; i < manifest->path_count; i++)
    if (!manifest->paths[i].from || !manifest->paths[i].to || manifest->paths[i].budget_ns <= 0)
      abort();
  for (size_t i = 0; i < manifest->off_count; i++)
    if (!manifest->off[i].reason) abort();
  ask(manifest, "/a/b");
  for (size_t i = 0; i < manifest->node_count && i < 20; i++)
    ask(manifest, manifest->nodes[i].name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static tb__problems_t problems;
  tb__manifest_t manifest = {0};
  tb__point_t point;
  char text[TB__POINT_TEXT_SIZE];
  problems = (tb__problems_t){0};
  tb_status_t status = tb__manifest_parse((const char *)data, size, &problems, &manifest);
  if (!status && problems.error_count) abort();
  if (status == TB_ERR_CORRUPT && !problems.error_count) abort();
  if (!status) check(&manifest);
  tb__manifest_fini(&manifest);
  if (tb__point_parse((const char *)data, size, &point)) {
    tb__point_format(&point, text);
    if (!tb__point_parse(text, strlen(text), &point)) abort();
  }
  return 0;
}
