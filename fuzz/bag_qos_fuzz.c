/* Bytes as the text of offered_qos_profiles. */
#include <stdlib.h>
#include <string.h>

#include "bag/offers.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = strndup((const char *)data, size);
  if (!text) return 0;
  tb__qos_offers_t offers = {0};
  tb_error_t error = TB_ERROR_INIT;
  if (tb__qos_offers_parse(text, &offers, &error) == TB_OK) {
    tb_qos_t qos = TB_QOS_INIT_DEFAULT;
    tb__qos_offers_adapt(&offers, &qos);
    if (qos.depth != 10 || qos.history != TB_QOS_KEEP_LAST || qos.deadline.ns <= 0 ||
        qos.lifespan.ns <= 0 || qos.liveliness_lease.ns <= 0)
      abort();
    tb__qos_offers_fini(&offers);
  }
  free(text);
  return 0;
}
