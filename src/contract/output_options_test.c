/* The YAML of `ros2 bag convert` as words of a command line. */
#include "contract/output_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define OUT "output_bags:\n- uri: a\n  "

/* The words of each output, with " " between them and "; " between outputs. */
static void assert_words(const char *yaml, const char *expected)
{
  char text[1000] = "";
  size_t used = 0;
  tb_error_t error = TB_ERROR_INIT;
  tb__output_options_t options = {0};
  if (tb__output_options_parse("o.yaml", yaml, strlen(yaml), &options, &error))
    fail_msg("%s", error.text);
  for (size_t i = 0; i < options.count; i++)
    for (size_t j = 0; j < options.outputs[i].count; j++)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                               j > 0   ? " "
                               : i > 0 ? "; "
                                       : "",
                               options.outputs[i].items[j]);
  assert_string_equal(text, expected);
  tb__output_options_fini(&options);
  assert_null(options.outputs);
}

static void assert_refused(const char *yaml, tb_status_t status, const char *text)
{
  tb_error_t error = TB_ERROR_INIT;
  tb__output_options_t options = {0};
  assert_status(tb__output_options_parse("o.yaml", yaml, strlen(yaml), &options, &error), status);
  if (!strstr(error.text, text)) fail_msg("'%s' is not in '%s'", text, error.text);
  assert_null(options.outputs);
}

static void test_values(void **state)
{
  (void)state;
  assert_words(OUT "all: true", "--output=a --regex=.");
  assert_words(OUT "all: TRUE\n- {uri: b, storage_id: mcap, all: true, storage_id: ~}",
               "--output=a --regex=.; --output=b --storage=mcap --regex=.");
  assert_words(OUT "max_bagfile_size: 5\n  max_bagfile_duration: 7\n  all: true",
               "--output=a --max-bag-size=5 --max-bag-duration=7s --regex=.");
  assert_words(OUT "max_bagfile_size: 0\n  compression_mode: FILE\n  all: true",
               "--output=a --compression-mode=file --regex=.");
  assert_words(OUT "max_cache_size: 5\n  compression_format: ''\n  all: true",
               "--output=a --regex=.");
}

static void test_times(void **state)
{
  (void)state;
  assert_words(OUT "start_time_ns: 5\n  end_time_ns: 7\n  all: true",
               "--output=a --start=5ns --end=8ns --regex=.");
  assert_words(OUT "start_time_ns: -1\n  end_time_ns: 9223372036854775807\n  all: true",
               "--output=a --regex=.");
}

static void test_the_choice_of_topics(void **state)
{
  (void)state;
  assert_words(OUT "topics: [/b, c]\n  exclude_topics: [-d]",
               "--output=a --topics=/b --topics=c --exclude-topics=-d");
  assert_words(OUT "services: [/s]\n  exclude_services: [/t]",
               "--output=a --topics=/s/_service_event --exclude-topics=/t/_service_event");
  assert_words(OUT "all_topics: true", "--output=a --regex=. --exclude-regex=/_service_event$");
  assert_words(OUT "all_topics: true\n  exclude: b",
               "--output=a --regex=. --exclude-regex=(?:b)|/_service_event$");
  assert_words(OUT "all_services: true\n  regex: b", "--output=a --regex=(?:b)|/_service_event$");
  assert_words(OUT "all: true\n  topics: [b]\n  exclude_regex: c",
               "--output=a --topics=b --regex=. --exclude-regex=c");
}

static void test_refused(void **state)
{
  (void)state;
  assert_refused("", TB_ERR_CORRUPT, "o.yaml: no list 'output_bags'");
  assert_refused("output_bags: {a: 1}", TB_ERR_CORRUPT, "no list 'output_bags'");
  assert_refused("output_bags:\n- a", TB_ERR_CORRUPT, "line 2: an output needs a uri");
  assert_refused("output_bags:\n- {all: true}", TB_ERR_CORRUPT, "an output needs a uri");
  assert_refused("output_bags:\n- {uri: [a], all: true}", TB_ERR_CORRUPT, "an output needs a uri");
  assert_refused(OUT "al: true", TB_ERR_CORRUPT, "line 3: al: unknown key");
  assert_refused(OUT "all: maybe", TB_ERR_CORRUPT, "line 3: all: must be true or false");
  assert_refused(OUT "all: false", TB_ERR_CORRUPT, "nothing is chosen");
  assert_refused(OUT "exclude_topics: [b]", TB_ERR_CORRUPT, "nothing is chosen");
  assert_refused(OUT "topics: b", TB_ERR_CORRUPT, "topics: must be a list");
  assert_refused(OUT "topics: [[b]]", TB_ERR_CORRUPT, "must be a list of texts");
  assert_refused(OUT "start_time_ns: 1.5", TB_ERR_CORRUPT, "must be a whole number");
  assert_refused(OUT "regex: [b]", TB_ERR_CORRUPT, "must be a single value");
  assert_refused(OUT "all: true\n- {uri: a//, all: true}", TB_ERR_CORRUPT,
                 "line 4: another output has the same uri");
}

static void test_many_outputs(void **state)
{
  (void)state;
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  fprintf(file, "output_bags:\n");
  for (int i = 0; i <= 1000; i++)
    fprintf(file, "- {uri: o%d, all: true}\n", i);
  fclose(file);
  assert_refused(text, TB_ERR_LIMIT, "more than 1000 outputs");
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_times),
      cmocka_unit_test(test_the_choice_of_topics),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_many_outputs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
