#include "dds/library.h"

#include <ctype.h>
#include <dds/dds.h>
#include <dds/version.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

tb_status_t tb__dds_library_check_path(const char *path, const char *release, tb_error_t *error)
{
  const char *folder_end = strrchr(path, '/');
  const char *suffix = strstr(folder_end ? folder_end : path, ".so.");
  if (!suffix || !isdigit((unsigned char)suffix[4]) || !strchr(suffix + 4, '.')) return TB_OK;
  if (strcmp(suffix + 4, release) == 0) return TB_OK;
  return tb_error_set(error, TB_ERR_VERSION,
                      "%s is loaded, but this timebase was built for Cyclone DDS %s: start the "
                      "program with that library first in LD_LIBRARY_PATH, or rebuild timebase",
                      path, release);
}

tb_status_t tb__dds_library_check(tb_error_t *error)
{
  /* A string in the library's own data identifies the loaded object, whatever the linker did with
   * the addresses of functions. */
  Dl_info info;
  if (!dladdr(dds_strretcode(DDS_RETCODE_OK), &info) || !info.dli_fname) return TB_OK;
  char *path = realpath(info.dli_fname, NULL);
  tb_status_t status = tb__dds_library_check_path(path ? path : info.dli_fname, DDS_VERSION, error);
  tb__libc_free(path);
  return status;
}

static tb_status_t status_of(dds_return_t code)
{
  switch (code) {
  case DDS_RETCODE_BAD_PARAMETER:
  case DDS_RETCODE_INCONSISTENT_POLICY:
  case DDS_RETCODE_IMMUTABLE_POLICY:
    return TB_ERR_INVALID;
  case DDS_RETCODE_OUT_OF_RESOURCES:
    return TB_ERR_NO_MEMORY;
  case DDS_RETCODE_TIMEOUT:
    return TB_ERR_TIMEOUT;
  case DDS_RETCODE_ALREADY_DELETED:
    return TB_ERR_CLOSED;
  case DDS_RETCODE_UNSUPPORTED:
    return TB_ERR_UNSUPPORTED;
  default:
    return TB_ERR_TRANSPORT;
  }
}

tb_status_t tb__dds_error_set(tb_error_t *error, int code, const char *what)
{
  const char *hint =
      code == DDS_RETCODE_NOT_ALLOWED_BY_SECURITY ? " (see the permissions of the enclave)" : "";
  return tb_error_set(error, status_of(code), "%s: Cyclone DDS reports: %s%s", what,
                      dds_strretcode(code), hint);
}

tb__guid_t tb__dds_guid(int32_t entity)
{
  dds_guid_t guid = {{0}};
  dds_get_guid(entity, &guid);
  return tb__guid_of(guid.v);
}
