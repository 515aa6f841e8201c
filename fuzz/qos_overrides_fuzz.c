/* Bytes as a file of QoS overrides. */
#include <stdlib.h>
#include <timebase/qos_overrides.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  tb_qos_overrides_t *overrides = NULL;
  if (tb_qos_overrides_parse((const char *)data, size, &overrides, NULL) != TB_OK) return 0;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb_qos_overrides_apply(overrides, "/scan", &qos);
  if (qos.depth < 1 || qos.deadline.ns <= 0 || qos.lifespan.ns <= 0) abort();
  tb_qos_overrides_destroy(overrides);
  return 0;
}
