#include "ros2/enclave.h"
#include "base/no_memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "platform/input_file.h"

/* The names of the files in an enclave, and a text that each must have in one of its lines. */
static const struct {
  const char *name, *mark;
} files[TB__SECURITY_FILE_COUNT] = {
    [TB__SECURITY_IDENTITY_CA] = {"identity_ca.cert.pem", "CERTIFICATE-----"},
    [TB__SECURITY_CERTIFICATE] = {"cert.pem", "CERTIFICATE-----"},
    [TB__SECURITY_PRIVATE_KEY] = {"key.pem", "PRIVATE KEY-----"},
    [TB__SECURITY_PERMISSIONS_CA] = {"permissions_ca.cert.pem", "CERTIFICATE-----"},
    [TB__SECURITY_GOVERNANCE] = {"governance.p7s", "pkcs7-"},
    [TB__SECURITY_PERMISSIONS] = {"permissions.p7s", "pkcs7-"},
    [TB__SECURITY_CRL] = {"crl.pem", "CRL-----"},
};

tb__security_environment_t tb__security_environment_read(void)
{
  return (tb__security_environment_t){
      .enable = getenv("ROS_SECURITY_ENABLE"),
      .keystore = getenv("ROS_SECURITY_KEYSTORE"),
      .strategy = getenv("ROS_SECURITY_STRATEGY"),
      .enclave_override = getenv("ROS_SECURITY_ENCLAVE_OVERRIDE"),
  };
}

static bool is(const char *value, const char *expected)
{
  return value && strcmp(value, expected) == 0;
}

static bool is_set(const char *value)
{
  return value && value[0];
}

static bool has_line_with(FILE *file, const char *mark)
{
  char line[256];
  bool found = false;
  while (!found && fgets(line, sizeof line, file))
    found = strstr(line, mark) != NULL;
  explicit_bzero(line, sizeof line);
  return found;
}

/* Cyclone does not report which file it cannot read. */
static tb_status_t file_check(const char *path, const char *mark, tb_error_t *error)
{
  char buffer[4096]; /* not on the heap: it may hold the key */
  tb_error_t why = TB_ERROR_INIT;
  int fd = -1;
  tb_status_t status = tb__input_file_open(path, &fd, &why);
  FILE *file = status ? NULL : fdopen(fd, "r");
  if (!file && fd >= 0) close(fd);
  if (status == TB_ERR_INVALID) return tb_error_set(error, status, "DDS Security: %s", why.text);
  if (!file)
    return tb_error_set_errno(error, TB_ERR_SYSTEM, status ? why.os_errno : errno,
                              "DDS Security: %s cannot be read", path);
  setvbuf(file, buffer, _IOFBF, sizeof buffer);
  bool found = has_line_with(file, mark);
  fclose(file);
  explicit_bzero(buffer, sizeof buffer);
  if (found) return TB_OK;
  return tb_error_set(error, TB_ERR_INVALID,
                      "DDS Security: %s is invalid: it has no line with '%s'; create it again, for "
                      "example with 'ros2 security create_enclave'",
                      path, mark);
}

static tb_status_t missing(tb_error_t *error, const char *what, const char *path)
{
  return tb_error_set(error, TB_ERR_NOT_FOUND,
                      "ROS_SECURITY_ENABLE is true, but there is no %s %s: check "
                      "ROS_SECURITY_KEYSTORE, ROS_SECURITY_ENCLAVE_OVERRIDE and --enclave",
                      what, path);
}

static tb_status_t too_long(tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_INVALID, "ROS_SECURITY_KEYSTORE: the path is too long");
}

static tb_status_t file_find(const char *folder, size_t index, char out[PATH_MAX],
                             tb_error_t *error)
{
  struct stat about;
  int length = snprintf(out, PATH_MAX, "%s/%s", folder, files[index].name);
  if (length >= PATH_MAX) return too_long(error);
  if (stat(out, &about) == 0 && S_ISREG(about.st_mode))
    return file_check(out, files[index].mark, error);
  if (index != TB__SECURITY_CRL) return missing(error, "file", out);
  out[0] = '\0';
  return TB_OK;
}

/* <keystore>/enclaves for the enclave "/", whose files lie next to the folders of other enclaves.
 */
static tb_status_t folder_find(const tb__security_environment_t *environment, const char *enclave,
                               char out[PATH_MAX], tb_error_t *error)
{
  struct stat about;
  if (is_set(environment->enclave_override)) enclave = environment->enclave_override;
  if (enclave[0] != '/')
    return tb_error_set(error, TB_ERR_INVALID,
                        "ROS_SECURITY_ENCLAVE_OVERRIDE '%s': must begin with '/'", enclave);
  if (!is_set(environment->keystore))
    return tb_error_set(error, TB_ERR_NOT_FOUND,
                        "ROS_SECURITY_ENABLE is true, but ROS_SECURITY_KEYSTORE names no folder");
  int length = snprintf(out, PATH_MAX, "%s/enclaves%s", environment->keystore,
                        strcmp(enclave, "/") == 0 ? "" : enclave);
  if (length >= PATH_MAX) return too_long(error);
  if (stat(out, &about) != 0 || !S_ISDIR(about.st_mode)) return missing(error, "folder", out);
  return TB_OK;
}

static tb_status_t files_find(const tb__security_environment_t *environment, const char *enclave,
                              tb__security_t *security, tb_error_t *error)
{
  char folder[PATH_MAX];
  tb_status_t status = folder_find(environment, enclave, folder, error);
  for (size_t i = 0; !status && i < TB__SECURITY_FILE_COUNT; i++)
    status = file_find(folder, i, security->files[i], error);
  return status;
}

tb_status_t tb__security_find(const tb__security_environment_t *environment, const char *enclave,
                              tb__security_t **out, tb_error_t *error)
{
  tb_error_t reason = TB_ERROR_INIT;
  if (!is(environment->enable, "true")) {
    *out = NULL;
    return TB_OK;
  }
  tb__security_t *security = calloc(1, sizeof *security);
  if (!security) return tb__no_memory_for(error, "DDS Security");
  tb_status_t status = files_find(environment, enclave, security, &reason);
  if (!status) {
    *out = security;
    return TB_OK;
  }
  free(security);
  if (status == TB_ERR_NOT_FOUND && !is(environment->strategy, "Enforce")) {
    tb__log(TB_LOG_WARN,
            "%s; this program is NOT secured (with ROS_SECURITY_STRATEGY=Enforce it "
            "would not start)",
            reason.text);
    *out = NULL;
    return TB_OK;
  }
  if (error) *error = reason;
  return status;
}
