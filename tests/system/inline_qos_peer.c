/* Reads what inline_qos_test writes: "ready", then for each line "samples COUNT", when so many have
 * come, "samples COUNT wrong COUNT", and begins to count again. Ends with its stdin. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "dds/raw_reader.h"
#include "held/parking.h"
#include "ros2/context.h"
#include "system/inline_qos_pattern.h"

static _Atomic uint32_t samples, wrong; /* `samples` is a futex, and does not count bystanders */

static void check(const tb_ros2_sample_t *sample)
{
  tb__sample_origin_t origin;
  if (!tb__raw_reader_origin(sample, &origin) ||
      !pattern_matches(sample->cdr, sample->size, &origin))
    atomic_fetch_add(&wrong, 1);
}

static void on_bystander(const tb_ros2_sample_t *sample, void *user)
{
  (void)user;
  check(sample);
}

static void on_sample(const tb_ros2_sample_t *sample, void *user)
{
  (void)user;
  check(sample);
  atomic_fetch_add(&samples, 1);
  tb__futex_wake_all(&samples);
}

static void wait_for(uint32_t wanted)
{
  for (uint32_t seen; (seen = atomic_load(&samples)) < wanted;)
    tb__futex_wait(&samples, seen, TB__NO_DEADLINE);
  printf("samples %" PRIu32 " wrong %" PRIu32 "\n", atomic_exchange(&samples, 0),
         atomic_exchange(&wrong, 0));
}

int main(void)
{
  static const struct {
    const char *topic;
    tb__raw_reader_callback_t callback;
  } rows[] = {{"rt/inline_qos", on_sample}, {"rt/bystander", on_bystander}};
  tb_ros2_context_t *context;
  tb__raw_reader_t *readers[2];
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = pattern_qos();
  setvbuf(stdout, NULL, _IOLBF, 0);
  tb_status_t status = tb_ros2_context_create(NULL, &context, &error);
  for (size_t i = 0; i < 2 && !status; i++) {
    tb__endpoint_options_t options = pattern_options(rows[i].topic, &qos);
    status = tb__raw_reader_create(tb__ros2_context_participant(context), &options,
                                   rows[i].callback, NULL, &readers[i], &error);
  }
  if (status) {
    fprintf(stderr, "inline_qos_peer: %s\n", error.text);
    return 1;
  }
  printf("ready\n");
  char line[64];
  while (fgets(line, sizeof line, stdin))
    wait_for((uint32_t)strtoul(line + strlen("samples "), NULL, 10));
  for (size_t i = 0; i < 2; i++)
    tb__raw_reader_destroy(readers[i]);
  tb_ros2_context_destroy(context);
  return 0;
}
