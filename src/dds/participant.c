#include "dds/participant.h"

#include <dds/dds.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "dds/domain.h"
#include "dds/library.h"
#include "dds/log_sink.h"

struct tb__participant {
  tb__dds_domain_t *domain;
  dds_entity_t handle;
  bool has_log;
};

static dds_entity_t participant_open(const tb__participant_options_t *options)
{
  dds_qos_t *qos = dds_create_qos();
  if (!qos) return DDS_RETCODE_OUT_OF_RESOURCES;
  if (options->user_data) dds_qset_userdata(qos, options->user_data, strlen(options->user_data));
  dds_entity_t handle = dds_create_participant(options->domain_id, qos, NULL);
  dds_delete_qos(qos);
  return handle;
}

tb_status_t tb__participant_create(const tb__participant_options_t *options,
                                   tb__participant_t **out, tb_error_t *error)
{
  tb_status_t status = tb__fork_watch();
  if (status != TB_OK)
    return tb_error_set(error, status, "DDS participant: %s", tb_status_message(status));
  status = tb__dds_library_check(error);
  if (status != TB_OK) return status;
  tb__participant_t *participant = calloc(1, sizeof *participant);
  if (!participant) return tb_error_set(error, TB_ERR_NO_MEMORY, "DDS participant: out of memory");
  participant->has_log = !options->keep_dds_log;
  if (participant->has_log) tb__dds_log_acquire();
  status = tb__dds_domain_acquire(options->domain_id, options->config, &participant->domain, error);
  if (status != TB_OK) goto fail;
  participant->handle = participant_open(options);
  if (participant->handle < 0) {
    status = tb__dds_error_set(error, participant->handle, "DDS participant cannot be created");
    goto fail;
  }
  *out = participant;
  return TB_OK;
fail:
  tb__participant_destroy(participant);
  return status;
}

void tb__participant_destroy(tb__participant_t *participant)
{
  if (!participant) return;
  if (!tb__is_forked()) { /* else threads, sockets and domain are the parent's */
    if (participant->handle > 0) dds_delete(participant->handle);
    tb__dds_domain_release(participant->domain);
    if (participant->has_log) tb__dds_log_release();
  }
  free(participant);
}

int32_t tb__participant_handle(const tb__participant_t *participant)
{
  return participant->handle;
}

void tb__participant_guid(const tb__participant_t *participant, uint8_t out[16])
{
  dds_guid_t guid;
  memset(&guid, 0, sizeof guid);
  dds_get_guid(participant->handle, &guid);
  memcpy(out, guid.v, sizeof guid.v);
}
