#include "dds/security.h"

#include <dds/dds.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BIT(file) (1U << TB__SECURITY_##file)

static const char *const file_properties[TB__SECURITY_FILE_COUNT] = {
    [TB__SECURITY_IDENTITY_CA] = "dds.sec.auth.identity_ca",
    [TB__SECURITY_CERTIFICATE] = "dds.sec.auth.identity_certificate",
    [TB__SECURITY_PRIVATE_KEY] = "dds.sec.auth.private_key",
    [TB__SECURITY_PERMISSIONS_CA] = "dds.sec.access.permissions_ca",
    [TB__SECURITY_GOVERNANCE] = "dds.sec.access.governance",
    [TB__SECURITY_PERMISSIONS] = "dds.sec.access.permissions",
    [TB__SECURITY_CRL] = "org.eclipse.cyclonedds.sec.auth.crl",
};

static const struct {
  const char *library, *path, *init, *init_value, *finalize, *finalize_value;
} plugins[] = {
    {"dds_security_auth", "dds.sec.auth.library.path", "dds.sec.auth.library.init",
     "init_authentication", "dds.sec.auth.library.finalize", "finalize_authentication"},
    {"dds_security_crypto", "dds.sec.crypto.library.path", "dds.sec.crypto.library.init",
     "init_crypto", "dds.sec.crypto.library.finalize", "finalize_crypto"},
    {"dds_security_ac", "dds.sec.access.library.path", "dds.sec.access.library.init",
     "init_access_control", "dds.sec.access.library.finalize", "finalize_access_control"},
};

/* Messages of Cyclone 0.10.2 and OpenSSL, their meaning, and the files that may be at fault. The
 * first match counts, so special ones come first. */
static const struct {
  const char *said, *meaning;
  unsigned files;
} refusals[] = {
    {"Could not load", "a security plugin of Cyclone DDS cannot be loaded: install all of Cyclone",
     0},
    {"CRL", "the list of revoked certificates cannot be used", BIT(CRL)},
    {"certificate revoked", "the certificate was revoked", BIT(CERTIFICATE) | BIT(CRL)},
    {"expired for", "the permissions have expired", BIT(PERMISSIONS)},
    {"has not started yet for", "the permissions are not valid yet", BIT(PERMISSIONS)},
    {"expired", "the certificate, or that of the identity CA, has expired",
     BIT(CERTIFICATE) | BIT(IDENTITY_CA)},
    {"not yet valid", "the certificate, or that of the identity CA, is not valid yet",
     BIT(CERTIFICATE) | BIT(IDENTITY_CA)},
    {"start date", "the certificate, or that of the identity CA, is not valid yet",
     BIT(CERTIFICATE) | BIT(IDENTITY_CA)},
    {"Certificate not valid", "the certificate was not signed by the identity CA",
     BIT(CERTIFICATE) | BIT(IDENTITY_CA)},
    {"Certificate is invalid", "the certificate of the permissions CA cannot be read",
     BIT(PERMISSIONS_CA)},
    {"certificate verify error", "a document was not signed by the permissions CA",
     BIT(PERMISSIONS) | BIT(GOVERNANCE) | BIT(PERMISSIONS_CA)},
    {"digest failure", "a document was changed after it had been signed",
     BIT(PERMISSIONS) | BIT(GOVERNANCE)},
    {"PKCS7", "a signed document cannot be read", BIT(PERMISSIONS) | BIT(GOVERNANCE)},
    {"Subject name is invalid", "the permissions grant nothing to the subject of the certificate",
     BIT(PERMISSIONS) | BIT(CERTIFICATE)},
    {"governance", "the governance document does not match", BIT(GOVERNANCE)},
    {"Governance", "the governance document does not match", BIT(GOVERNANCE)},
    {"ermissions file", "the permissions do not match", BIT(PERMISSIONS)},
    {"in permissions", "the permissions grant nothing in this domain", BIT(PERMISSIONS)},
    {"not allowed to create participant", "the permissions grant nothing in this domain",
     BIT(PERMISSIONS) | BIT(GOVERNANCE)},
    {"ertificate", "a certificate or the key cannot be read",
     BIT(CERTIFICATE) | BIT(IDENTITY_CA) | BIT(PRIVATE_KEY)},
    {"key", "certificate and key are of a kind that DDS Security does not use",
     BIT(CERTIFICATE) | BIT(PRIVATE_KEY)},
};

void tb__security_plugin_path(const char *library, const char *name, char out[PATH_MAX])
{
  static const char *const folders[] = {"libddsc0debian/", ""}; /* Debian's, Cyclone's own */
  const char *slash = strrchr(library, '/');
  for (size_t i = 0; slash && i < sizeof folders / sizeof *folders; i++) {
    int length = snprintf(out, PATH_MAX, "%.*s/%slib%s.so", (int)(slash - library), library,
                          folders[i], name);
    if (length > 0 && length < PATH_MAX && access(out, R_OK) == 0) return;
  }
  snprintf(out, PATH_MAX, "%s", name);
}

static void plugins_apply(dds_qos_t *qos)
{
  char path[PATH_MAX];
  Dl_info info;
  const char *library = "";
  if (dladdr(dds_strretcode(DDS_RETCODE_OK), &info) && info.dli_fname) library = info.dli_fname;
  for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
    tb__security_plugin_path(library, plugins[i].library, path);
    dds_qset_prop(qos, plugins[i].path, path);
    dds_qset_prop(qos, plugins[i].init, plugins[i].init_value);
    dds_qset_prop(qos, plugins[i].finalize, plugins[i].finalize_value);
  }
}

void tb__security_apply(const tb__security_t *security, void *qos)
{
  char uri[PATH_MAX + sizeof "file:"];
  plugins_apply(qos);
  for (size_t i = 0; i < TB__SECURITY_FILE_COUNT; i++) {
    if (!security->files[i][0]) continue;
    snprintf(uri, sizeof uri, "file:%s", security->files[i]);
    dds_qset_prop(qos, file_properties[i], uri);
  }
}

/* "a, b": the files in `mask`, cut to `size`. */
static void files_list(const tb__security_t *security, unsigned mask, char *out, size_t size)
{
  size_t used = 0;
  out[0] = '\0';
  for (unsigned i = 0; i < TB__SECURITY_FILE_COUNT; i++) {
    if (!(mask & (1U << i)) || !security->files[i][0] || used >= size) continue;
    used +=
        (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : ": ", security->files[i]);
  }
}

/* The informative part of a message: its first line, without the name of the step. */
static const char *reason_of(const char *line, int *out_length)
{
  const char *colon = strstr(line, ": ");
  if (colon && strncmp(line, "Error occurred", 14) == 0) line = colon + 2;
  *out_length = (int)strcspn(line, "\n");
  return line;
}

tb_status_t tb__security_refusal(const tb__security_t *security,
                                 const tb__dds_log_capture_t *capture, tb_error_t *error)
{
  char files[TB_ERROR_TEXT_SIZE * 2 / 3];
  int length;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const char *line = tb__dds_log_capture_find(capture, refusals[i].said);
    if (!line) continue;
    files_list(security, refusals[i].files, files, sizeof files);
    line = reason_of(line, &length);
    return tb_error_set(error, TB_ERR_INVALID, "DDS Security: %s%s (Cyclone DDS reports: %.*s)",
                        refusals[i].meaning, files, length, line);
  }
  const char *last = tb__dds_log_capture_last(capture);
  const char *reason = reason_of(last ? last : "see its log", &length);
  return tb_error_set(error, TB_ERR_TRANSPORT,
                      "DDS Security: Cyclone DDS refuses %s and the files beside it: %.*s",
                      security->files[TB__SECURITY_CERTIFICATE], length, reason);
}
