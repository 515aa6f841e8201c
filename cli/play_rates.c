#include "play_rates.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLE_NS 100000000

bool play_rates_init(play_rates_t *rates, size_t topic_count)
{
  *rates = (play_rates_t){.topic_count = topic_count};
  rates->sent = calloc(PLAY_RATES_SAMPLES * (topic_count + 1), sizeof *rates->sent);
  return rates->sent;
}

void play_rates_fini(play_rates_t *rates)
{
  free(rates->sent);
  *rates = (play_rates_t){0};
}

static size_t newest(const play_rates_t *rates)
{
  return (rates->count - 1) % PLAY_RATES_SAMPLES;
}

static size_t oldest(const play_rates_t *rates)
{
  return rates->count > PLAY_RATES_SAMPLES ? rates->count % PLAY_RATES_SAMPLES : 0;
}

uint64_t *play_rates_sample(play_rates_t *rates, int64_t now_ns, int64_t played_ns)
{
  if (rates->count > 0 && now_ns - rates->now_ns[newest(rates)] < SAMPLE_NS) return NULL;
  size_t i = rates->count++ % PLAY_RATES_SAMPLES;
  rates->now_ns[i] = now_ns;
  rates->played_ns[i] = played_ns;
  return rates->sent + i * rates->topic_count;
}

static double per_second(const play_rates_t *rates, double difference)
{
  if (rates->count < 2) return NAN;
  return difference * 1e9 / (double)(rates->now_ns[newest(rates)] - rates->now_ns[oldest(rates)]);
}

double play_rates_achieved(const play_rates_t *rates)
{
  if (rates->count < 2) return NAN;
  int64_t played_ns = rates->played_ns[newest(rates)] - rates->played_ns[oldest(rates)];
  return per_second(rates, (double)played_ns / 1e9);
}

double play_rates_topic(const play_rates_t *rates, size_t topic)
{
  if (rates->count < 2) return NAN;
  size_t count = rates->topic_count;
  uint64_t sent =
      rates->sent[newest(rates) * count + topic] - rates->sent[oldest(rates) * count + topic];
  return per_second(rates, (double)sent);
}
