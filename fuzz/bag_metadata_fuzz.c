/* Bytes as metadata.yaml. */
#include "bag/metadata.h"

#include "bag/offers.h"
#include "fuzz.h"

static void read_offers(const tb__bag_metadata_t *metadata, const char *name)
{
  tb__bag_metadata_topic_t topic = {0};
  tb__qos_offers_t offers = {0};
  if (!tb__bag_metadata_find_topic(metadata, name, &topic)) return;
  if (tb__qos_offers_from_node(topic.offers, &offers, NULL) == TB_OK) tb__qos_offers_fini(&offers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  tb__bag_metadata_t metadata = {0};
  tb_error_t error = TB_ERROR_INIT;
  if (tb__bag_metadata_parse(data, size, &metadata, &error)) return 0;
  tb__bag_compression_t compression;
  tb_status_t status = tb__bag_metadata_compression(&metadata, &compression, NULL);
  (void)status; /* both results are fine */
  read_offers(&metadata, "/a");
  read_offers(&metadata, "/chatter");
  tb__bag_metadata_fini(&metadata);
  return 0;
}
