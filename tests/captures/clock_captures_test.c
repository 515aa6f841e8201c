/* Every /clock sample captured from ROS 2 (captures/clock.json): our decoder must read the value
 * that ROS's own reads, and refuse what is not a time. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "wire/clock_message.h"

#define PATH TB_SHARED_DIR "/captures/clock.json"
#define S    INT64_C(1000000000)

static char *file_read(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  char *text = calloc(1, 1 << 20);
  assert_non_null(text);
  size_t size = fread(text, 1, (1 << 20) - 1, file);
  assert_true(size > 0);
  fclose(file);
  return text;
}

/* The value after the next `"key":`; *at moves past it. */
static const char *find(const char **at, const char *key)
{
  const char *found = strstr(*at, key);
  if (!found) return NULL;
  *at = found + strlen(key);
  return *at + strspn(*at, " :\"");
}

static size_t hex_read(const char *hex, uint8_t *out, size_t room)
{
  size_t size = 0;
  for (unsigned byte; size < room && sscanf(hex, "%2x", &byte) == 1 && *hex != '"'; hex += 2)
    out[size++] = (uint8_t)byte;
  return size;
}

static void check(int64_t sec, int64_t nanosec, const uint8_t *cdr, size_t size)
{
  int64_t time_ns = -1;
  uint8_t again[TB__CLOCK_MESSAGE_SIZE];
  if (nanosec >= S) {
    assert_status(tb__clock_message_decode(cdr, size, &time_ns), TB_ERR_INVALID);
  } else if (sec < 0) {
    assert_status(tb__clock_message_decode(cdr, size, &time_ns), TB_ERR_RANGE);
  } else {
    assert_ok(tb__clock_message_decode(cdr, size, &time_ns));
    assert_true(time_ns == sec * S + nanosec);
    if (time_ns == 0) return;
    assert_ok(tb__clock_message_encode(time_ns, again));
    assert_int_equal(size, sizeof again);
    assert_memory_equal(again, cdr, size);
  }
}

static void test_every_captured_clock(void **state)
{
  (void)state;
  char *text = file_read(PATH);
  if (!text) {
    print_message("no captures at " PATH "\n");
    skip();
  }
  int samples = 0;
  const char *at = text, *value;
  while ((value = find(&at, "\"sec\""))) {
    int64_t sec = strtoll(value, NULL, 10);
    assert_non_null(value = find(&at, "\"nanosec\""));
    int64_t nanosec = strtoll(value, NULL, 10);
    uint8_t cdr[64];
    assert_non_null(value = find(&at, "\"cdr_hex\""));
    check(sec, nanosec, cdr, hex_read(value, cdr, sizeof cdr));
    samples++;
  }
  free(text);
  assert_true(samples >= 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_captured_clock)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
