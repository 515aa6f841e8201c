#include "dds/participant.h"
#include "base/no_memory.h"

#include <dds/dds.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "dds/domain.h"
#include "dds/library.h"
#include "dds/log_sink.h"
#include "dds/room.h"
#include "platform/mutex.h"

/* Two threads that create the first secured participants of a domain would both load the plugins.
 */
static tb__mutex_t security_mutex = TB__MUTEX_INIT;

struct tb__participant {
  tb__dds_domain_t *domain;
  dds_entity_t handle;
  tb__guid_t guid;
  bool has_log;
  bool is_secured;
};

static dds_entity_t handle_open(const tb__participant_options_t *options)
{
  dds_qos_t *qos = dds_create_qos();
  if (!qos) return DDS_RETCODE_OUT_OF_RESOURCES;
  if (options->user_data) dds_qset_userdata(qos, options->user_data, strlen(options->user_data));
  dds_entity_t handle;
  if (options->security) {
    tb__security_apply(options->security, qos);
    tb__mutex_lock(&security_mutex);
    handle = dds_create_participant(options->domain_id, qos, NULL);
    tb__mutex_unlock(&security_mutex);
  } else {
    handle = dds_create_participant(options->domain_id, qos, NULL);
  }
  dds_delete_qos(qos);
  return handle;
}

static tb_status_t participant_open(const tb__participant_options_t *options, dds_entity_t *out,
                                    tb_error_t *error)
{
  tb_status_t status =
      tb__dds_room_for_participant(options->domain_id, options->security != NULL, error);
  if (status) return status;
  tb__dds_log_capture_t capture;
  tb__dds_log_capture_begin(&capture);
  dds_entity_t handle = handle_open(options);
  tb__dds_log_capture_stop();
  tb__dds_log_capture_replay(&capture);
  *out = handle;
  if (handle >= 0) return TB_OK;
  if (options->security) return tb__security_refusal(options->security, &capture, error);
  return tb__dds_error_set(error, handle, "DDS participant cannot be created");
}

tb_status_t tb__participant_create(const tb__participant_options_t *options,
                                   tb__participant_t **out, tb_error_t *error)
{
  tb_status_t status = tb__fork_watch();
  if (status) return tb_error_set(error, status, "DDS participant: %s", tb_status_message(status));
  status = tb__dds_library_check(error);
  if (status) return status;
  tb__participant_t *participant = calloc(1, sizeof *participant);
  if (!participant) return tb__no_memory_for(error, "DDS participant");
  participant->has_log = !options->keep_dds_log;
  participant->is_secured = options->security;
  if (participant->has_log) tb__dds_log_acquire();
  const char *identity =
      options->security ? options->security->files[TB__SECURITY_CERTIFICATE] : "";
  status = tb__dds_domain_acquire(options->domain_id, options->config, identity,
                                  &participant->domain, error);
  if (status) goto fail;
  status = participant_open(options, &participant->handle, error);
  if (status) goto fail;
  participant->guid = tb__dds_guid(participant->handle);
  *out = participant;
  return TB_OK;
fail:
  tb__participant_destroy(participant);
  return status;
}

void tb__participant_destroy(tb__participant_t *participant)
{
  if (!participant) return;
  if (!tb__is_forked()) { /* else threads, sockets and domain belong to the parent */
    tb__dds_leaving_t leaving;
    tb__dds_log_leave(&leaving, &participant->guid);
    if (participant->handle > 0) dds_delete(participant->handle);
    tb__dds_domain_release(participant->domain);
    tb__dds_log_left(&leaving);
    if (participant->has_log) tb__dds_log_release();
  }
  free(participant);
}

int32_t tb__participant_handle(const tb__participant_t *participant)
{
  return participant->handle;
}

bool tb__participant_is_secured(const tb__participant_t *participant)
{
  return participant->is_secured;
}

bool tb__participant_owns_domain(const tb__participant_t *participant)
{
  return tb__dds_domain_is_own(participant->domain);
}

tb__guid_t tb__participant_guid(const tb__participant_t *participant)
{
  return participant->guid;
}
