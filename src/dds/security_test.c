#include "dds/security.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/log.h>
#include <unistd.h>

#include "test.h"

static void file_make(const char *path)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fclose(file);
}

static void test_plugins_are_found_next_to_the_library(void **state)
{
  (void)state;
  char folder[] = "/tmp/timebase-plugins-XXXXXX";
  char library[64], own[96], debian_folder[96], debian[128], path[PATH_MAX];
  assert_non_null(mkdtemp(folder));
  snprintf(library, sizeof library, "%s/libddsc.so.0", folder);
  snprintf(own, sizeof own, "%s/libdds_security_ac.so", folder);
  snprintf(debian_folder, sizeof debian_folder, "%s/libddsc0debian", folder);
  snprintf(debian, sizeof debian, "%s/libdds_security_ac.so", debian_folder);
  tb__security_plugin_path(library, "dds_security_ac", path);
  assert_string_equal(path, "dds_security_ac");
  file_make(own);
  tb__security_plugin_path(library, "dds_security_ac", path);
  assert_string_equal(path, own);
  assert_int_equal(mkdir(debian_folder, 0700), 0);
  file_make(debian);
  tb__security_plugin_path(library, "dds_security_ac", path);
  assert_string_equal(path, debian);
  tb__security_plugin_path("libddsc.so.0", "dds_security_ac", path);
  assert_string_equal(path, "dds_security_ac");
  unlink(debian);
  rmdir(debian_folder);
  unlink(own);
  rmdir(folder);
}

static void log_line(tb__dds_log_capture_t *capture, const char *text)
{
  capture->used = 0;
  capture->lines[capture->used++] = (char)TB_LOG_ERROR;
  memcpy(capture->lines + capture->used, text, strlen(text) + 1);
  capture->used += strlen(text) + 1;
}

static void assert_refusal(const char *logged, tb_status_t expected, const char *part)
{
  tb__dds_log_capture_t capture;
  tb_error_t error = TB_ERROR_INIT;
  tb__security_t *security = calloc(1, sizeof *security);
  assert_non_null(security);
  for (int i = 0; i < TB__SECURITY_CRL; i++)
    snprintf(security->files[i], sizeof security->files[i], "/k/%d", i);
  log_line(&capture, logged);
  assert_status(tb__security_refusal(security, &capture, &error), expected);
  if (!strstr(error.text, part)) fail_msg("'%s' does not contain '%s'", error.text, part);
  assert_null(strchr(error.text, '\n'));
  free(security);
}

static void test_refusals_name_what_may_be_at_fault(void **state)
{
  (void)state;
  assert_refusal("Error occurred while validating local permission: Certificate not valid: error: "
                 "certificate has expired; subject: /CN=x(code: 200)",
                 TB_ERR_INVALID, "has expired: /k/0, /k/1 (Cyclone DDS reports: Certificate not");
  assert_refusal("Certificate not valid: error: unable to get local issuer certificate",
                 TB_ERR_INVALID, "not signed by the identity CA: /k/0, /k/1");
  assert_refusal("Certificate is invalid: x\ny", TB_ERR_INVALID,
                 "permissions CA cannot be read: /k/3 ");
  assert_refusal("Failed to parse PKCS7 SMIME document: certificate verify error\nx",
                 TB_ERR_INVALID, "not signed by the permissions CA: /k/3, /k/4, /k/5 ");
  assert_refusal("Failed to parse PKCS7 SMIME document: digest failure", TB_ERR_INVALID,
                 "changed after it had been signed: /k/4, /k/5");
  assert_refusal("Permissions validity period expired for CN=/a (expired: 2021)", TB_ERR_INVALID,
                 "the permissions have expired: /k/5");
  assert_refusal("Could not find domain 20 in governance", TB_ERR_INVALID, ": /k/4");
  assert_refusal("Could not load Authentication library: libx.so: no such file", TB_ERR_INVALID,
                 "plugin");
  assert_refusal("something new", TB_ERR_TRANSPORT, "something new");
}

static void test_a_refusal_without_a_message_refers_to_the_log(void **state)
{
  (void)state;
  tb__dds_log_capture_t nothing = {.used = 0};
  tb_error_t error = TB_ERROR_INIT;
  tb__security_t *security = calloc(1, sizeof *security);
  assert_non_null(security);
  assert_status(tb__security_refusal(security, &nothing, &error), TB_ERR_TRANSPORT);
  assert_non_null(strstr(error.text, "see its log"));
  free(security);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plugins_are_found_next_to_the_library),
      cmocka_unit_test(test_refusals_name_what_may_be_at_fault),
      cmocka_unit_test(test_a_refusal_without_a_message_refers_to_the_log),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
