#include "ros2/enclave.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/log.h>
#include <unistd.h>

#include "test.h"

/* What a file of each name must have to pass; the contents are Cyclone's to judge. */
static const struct {
  const char *name, *text;
} files[] = {
    {"identity_ca.cert.pem", "-----BEGIN CERTIFICATE-----\n"},
    {"cert.pem", "Certificate:\n    Data:\n-----BEGIN CERTIFICATE-----\n"},
    {"key.pem", "-----BEGIN EC PRIVATE KEY-----\n"},
    {"permissions_ca.cert.pem", "-----BEGIN CERTIFICATE-----\n"},
    {"governance.p7s", "MIME-Version: 1.0\nContent-Type: multipart/signed; "
                       "protocol=\"application/x-pkcs7-signature\"\n"},
    {"permissions.p7s", "Content-Type: application/pkcs7-mime\n"},
    {"crl.pem", "-----BEGIN X509 CRL-----\n"},
};
#define FILES (sizeof files / sizeof *files)
#define CRL   (FILES - 1)

static char root[] = "/tmp/timebase-keystore-XXXXXX";
static tb__security_environment_t on;

static void path_of(const char *enclave, const char *name, char out[256])
{
  snprintf(out, 256, "%s/enclaves%s/%s", root, enclave, name);
}

static void file_write(const char *enclave, const char *name, const char *text)
{
  char path[256];
  path_of(enclave, name, path);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void file_remove(const char *enclave, const char *name)
{
  char path[256];
  path_of(enclave, name, path);
  remove(path);
}

static void enclave_make(const char *enclave)
{
  for (size_t i = 0; i < CRL; i++)
    file_write(enclave, files[i].name, files[i].text);
}

static int setup(void **state)
{
  (void)state;
  char path[256];
  strcpy(root + strlen(root) - 6, "XXXXXX");
  assert_non_null(mkdtemp(root));
  path_of("", "", path);
  assert_int_equal(mkdir(path, 0700), 0);
  path_of("/arm", "", path);
  assert_int_equal(mkdir(path, 0700), 0);
  enclave_make("");
  enclave_make("/arm");
  on = (tb__security_environment_t){.enable = "true", .keystore = root, .strategy = "Enforce"};
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  tb_log_set_hook(NULL, NULL);
  for (size_t i = 0; i < FILES; i++) {
    file_remove("/arm", files[i].name);
    file_remove("", files[i].name);
  }
  file_remove("/arm", "");
  file_remove("", "");
  return rmdir(root);
}

static void assert_refused(const char *enclave, tb_status_t expected, const char *part)
{
  tb_error_t error = TB_ERROR_INIT;
  tb__security_t *security = NULL;
  assert_status(tb__security_find(&on, enclave, &security, &error), expected);
  assert_null(security);
  assert_int_equal(error.status, expected);
  if (!strstr(error.text, part)) fail_msg("'%s' does not contain '%s'", error.text, part);
}

static void assert_unsecured(void)
{
  tb__security_t *security = (tb__security_t *)&on;
  assert_ok(tb__security_find(&on, "/", &security, NULL));
  assert_null(security);
}

static void count_warning(tb_log_level_t level, const char *message, void *user)
{
  if (level == TB_LOG_WARN && strstr(message, "NOT secured")) ++*(int *)user;
}

static void test_only_true_turns_it_on(void **state)
{
  (void)state;
  static const char *const off[] = {NULL, "", "True", "TRUE", "1", "true ", "false"};
  int warnings = 0;
  tb_log_set_hook(count_warning, &warnings);
  on.keystore = NULL;
  for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
    on.enable = off[i];
    assert_unsecured();
  }
  assert_int_equal(warnings, 0);
}

static void assert_files(const char *asked, const char *enclave)
{
  char path[256];
  tb__security_t *security = NULL;
  assert_ok(tb__security_find(&on, asked, &security, NULL));
  assert_non_null(security);
  for (size_t i = 0; i < CRL; i++) {
    path_of(enclave, files[i].name, path);
    assert_string_equal(security->files[i], path);
  }
  assert_string_equal(security->files[TB__SECURITY_CRL], "");
  free(security);
}

static void test_the_enclave_is_a_folder_and_may_be_overridden(void **state)
{
  (void)state;
  assert_files("/", "");
  assert_files("/arm", "/arm");
  on.enclave_override = "";
  assert_files("/arm", "/arm");
  on.enclave_override = "/arm";
  assert_files("/leg", "/arm");
  on.enclave_override = "/";
  assert_files("/leg", "");
  on.enclave_override = "arm";
  assert_refused("/", TB_ERR_INVALID, "ROS_SECURITY_ENCLAVE_OVERRIDE 'arm'");
}

static void test_a_list_of_revoked_certificates_is_used_where_there_is_one(void **state)
{
  (void)state;
  char path[256];
  tb__security_t *security = NULL;
  path_of("/arm", "crl.pem", path);
  file_write("/arm", "crl.pem", files[CRL].text);
  assert_ok(tb__security_find(&on, "/arm", &security, NULL));
  assert_string_equal(security->files[TB__SECURITY_CRL], path);
  free(security);
  file_write("/arm", "crl.pem", "none");
  assert_refused("/arm", TB_ERR_INVALID, "crl.pem");
}

static void test_Enforce_names_what_is_missing(void **state)
{
  (void)state;
  for (size_t i = 0; i < CRL; i++) {
    file_remove("/arm", files[i].name);
    char part[64];
    snprintf(part, sizeof part, "/enclaves/arm/%s", files[i].name);
    assert_refused("/arm", TB_ERR_NOT_FOUND, part);
    enclave_make("/arm");
  }
  assert_refused("/leg", TB_ERR_NOT_FOUND, "/enclaves/leg");
  on.keystore = "";
  assert_refused("/", TB_ERR_NOT_FOUND, "ROS_SECURITY_KEYSTORE");
  on.keystore = NULL;
  assert_refused("/", TB_ERR_NOT_FOUND, "ROS_SECURITY_KEYSTORE");
}

static void test_other_strategies_warn_of_what_is_missing(void **state)
{
  (void)state;
  static const char *const others[] = {NULL, "", "Permissive", "enforce"};
  int warnings = 0;
  tb_log_set_hook(count_warning, &warnings);
  file_remove("", "key.pem");
  for (int i = 0; i < 4; i++) {
    on.strategy = others[i];
    assert_unsecured();
    assert_int_equal(warnings, i + 1);
  }
  on.keystore = NULL;
  assert_unsecured();
  assert_int_equal(warnings, 5);
}

static void test_garbage_is_refused_by_every_strategy(void **state)
{
  (void)state;
  static const char *const strategies[] = {"Enforce", "Permissive"};
  for (int s = 0; s < 2; s++) {
    on.strategy = strategies[s];
    for (size_t i = 0; i < CRL; i++) {
      file_write("/arm", files[i].name, "rubbish\n");
      assert_refused("/arm", TB_ERR_INVALID, files[i].name);
      file_write("/arm", files[i].name, "");
      assert_refused("/arm", TB_ERR_INVALID, files[i].name);
      enclave_make("/arm");
    }
  }
}

static void test_what_is_no_file_or_cannot_be_read(void **state)
{
  (void)state;
  char path[256];
  path_of("/arm", "cert.pem", path);
  remove(path);
  assert_int_equal(mkfifo(path, 0600), 0); /* reading it would wait */
  assert_refused("/arm", TB_ERR_NOT_FOUND, "cert.pem");
  enclave_make("");
  path_of("", "key.pem", path);
  assert_int_equal(chmod(path, 0), 0);
  if (geteuid() != 0) assert_refused("/", TB_ERR_SYSTEM, "key.pem");
}

static void test_a_path_that_is_too_long(void **state)
{
  (void)state;
  static char long_path[PATH_MAX + 16];
  memset(long_path, 'x', sizeof long_path - 1);
  on.keystore = long_path;
  assert_refused("/", TB_ERR_INVALID, "too long");
}

#define SECURITY_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      SECURITY_TEST(test_only_true_turns_it_on),
      SECURITY_TEST(test_the_enclave_is_a_folder_and_may_be_overridden),
      SECURITY_TEST(test_a_list_of_revoked_certificates_is_used_where_there_is_one),
      SECURITY_TEST(test_Enforce_names_what_is_missing),
      SECURITY_TEST(test_other_strategies_warn_of_what_is_missing),
      SECURITY_TEST(test_garbage_is_refused_by_every_strategy),
      SECURITY_TEST(test_what_is_no_file_or_cannot_be_read),
      SECURITY_TEST(test_a_path_that_is_too_long),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
