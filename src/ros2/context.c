#include "ros2/context.h"
#include "base/no_memory.h"
#include "base/sized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/null_argument.h"
#include "ros2/discovery.h"
#include "ros2/enclave.h"
#include "wire/names.h"

struct tb_ros2_context {
  tb__participant_t *participant;
  uint32_t domain_id;
  _Atomic uint32_t service_ids;
  bool humble;
  tb__dispatch_t dispatch;
  tb__announcer_t announcer;
  tb__shared_sources_t sources;
  tb__arguments_t *arguments;
  tb_cancel_token_t *token;
  tb__mutex_t retired_mutex;
  tb__retired_t *retired; /* guarded by retired_mutex, as is the next */
  bool finishes;          /* `finisher` is a member */
  tb__dispatch_member_t finisher;
};

static tb_status_t domain_id_choose(const tb_ros2_context_options_t *options,
                                    const tb__ros2_environment_t *environment, uint32_t *out,
                                    tb_error_t *error)
{
  if (!options->has_domain_id && options->domain_id != 0)
    return tb_error_set(
        error, TB_ERR_INVALID,
        "domain_id %d without has_domain_id: set both, or neither for ROS_DOMAIN_ID",
        options->domain_id);
  if (!options->has_domain_id) return tb__domain_id_parse(environment->domain_id, out, error);
  if (options->domain_id < 0 || options->domain_id > TB__DOMAIN_ID_MAX)
    return tb_error_set(error, TB_ERR_RANGE, "domain id %d is out of range: 0 to %d",
                        options->domain_id, TB__DOMAIN_ID_MAX);
  *out = (uint32_t)options->domain_id;
  return TB_OK;
}

static bool is_humble(tb_ros2_distro_t distro, const char *name)
{
  static const char *const old[] = {"humble", "galactic", "foxy"};
  if (distro != TB_ROS2_DISTRO_ENVIRONMENT) return distro == TB_ROS2_DISTRO_HUMBLE;
  for (size_t i = 0; name && i < sizeof old / sizeof old[0]; i++) {
    if (strcmp(name, old[i]) == 0) return true;
  }
  return false;
}

static tb_status_t participant_create(tb_ros2_context_t *context, const char *config,
                                      const tb_ros2_context_options_t *options, tb_error_t *error)
{
  char user_data[TB__DDS_NAME_SIZE + sizeof "enclave=;"];
  tb__security_t *security = NULL;
  tb__security_environment_t environment = tb__security_environment_read();
  const char *enclave = tb__arguments_enclave(context->arguments);
  if (!enclave) enclave = options->enclave ? options->enclave : "/";
  tb_status_t status = tb__enclave_name_check(enclave, error);
  if (!status) status = tb__security_find(&environment, enclave, &security, error);
  if (status) return status;
  snprintf(user_data, sizeof user_data, "enclave=%s;", enclave);
  tb__participant_options_t participant = {
      .domain_id = context->domain_id,
      .config = config,
      .user_data = user_data,
      .keep_dds_log = options->keep_dds_log,
      .security = security,
  };
  status = tb__participant_create(&participant, &context->participant, error);
  free(security);
  return status;
}

tb_status_t tb_ros2_context_create_sized(const tb_ros2_context_options_t *options,
                                         size_t options_size, tb_ros2_context_t **out,
                                         tb_error_t *error)
{
  if (!out) return tb__null_argument(error, __func__);
  tb_ros2_context_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros2_context_options_t");
  static const tb_ros2_context_options_t defaults = TB_ROS2_CONTEXT_OPTIONS_INIT;
  if (!options) options = &defaults;
  char *config = NULL;
  tb_ros2_context_t *context = calloc(1, sizeof *context);
  if (!context) return tb__no_memory_for(error, "ROS 2 context");
  tb__mutex_init(&context->retired_mutex);
  tb__dispatch_init(&context->dispatch);
  tb__shared_sources_init(&context->sources, context);
  tb__ros2_environment_t environment = tb__ros2_environment_read();
  environment.prompt_acks = options->prompt_acks;
  tb_status_t status = domain_id_choose(options, &environment, &context->domain_id, error);
  if (status) goto fail;
  status = tb__arguments_parse(options->argc, options->argv, &context->arguments, error);
  if (status) goto fail;
  status = tb__discovery_config(&environment, (int)getpid(), &config, error);
  if (status) goto fail;
  status = participant_create(context, config, options, error);
  if (status) goto fail;
  status = tb_cancel_token_create(&context->token);
  if (status) {
    tb_error_set(error, status, "ROS 2 context: %s", tb_status_message(status));
    goto fail;
  }
  context->humble = is_humble(options->distro, environment.distro);
  tb__announcer_init(&context->announcer, context->participant, context->humble);
  free(config);
  *out = context;
  return TB_OK;
fail:
  free(config);
  tb_ros2_context_destroy(context);
  return status;
}

static void finish_retired(tb_ros2_context_t *context)
{
  tb__mutex_lock(&context->retired_mutex);
  tb__retired_t *retired = context->retired;
  context->retired = NULL;
  tb__mutex_unlock(&context->retired_mutex);
  for (tb__retired_t *next; retired; retired = next) {
    next = retired->next;
    retired->finish(retired);
  }
}

static void run_finisher(tb__dispatch_member_t *member)
{
  finish_retired(
      (tb_ros2_context_t *)(void *)((char *)member - offsetof(tb_ros2_context_t, finisher)));
}

void tb__ros2_context_retire(tb_ros2_context_t *context, tb__retired_t *retired)
{
  tb__mutex_lock(&context->retired_mutex);
  retired->next = context->retired;
  context->retired = retired;
  if (!context->finishes)
    context->finishes = !tb__dispatch_add(&context->dispatch, &context->finisher, run_finisher);
  if (context->finishes) tb__dispatch_post(&context->dispatch, &context->finisher);
  tb__mutex_unlock(&context->retired_mutex);
}

void tb_ros2_context_destroy(tb_ros2_context_t *context)
{
  if (!context) return;
  tb_ros2_context_shutdown(context);
  tb_cancel_token_destroy(context->token);
  tb__dispatch_fini(&context->dispatch);
  finish_retired(context);
  tb__mutex_fini(&context->retired_mutex);
  tb__shared_sources_fini(&context->sources);
  tb__announcer_fini(&context->announcer);
  tb__participant_destroy(context->participant);
  tb__arguments_destroy(context->arguments);
  free(context);
}

tb_cancel_token_t *tb_ros2_context_token(tb_ros2_context_t *context)
{
  return context ? context->token : NULL;
}

void tb_ros2_context_shutdown(tb_ros2_context_t *context)
{
  /* S5: waits with the token end */
  if (context) tb_cancel_token_cancel(context->token);
}

int tb_ros2_context_domain_id(const tb_ros2_context_t *context)
{
  if (!context) return -1;
  return (int)context->domain_id;
}

tb__participant_t *tb__ros2_context_participant(const tb_ros2_context_t *context)
{
  return context->participant;
}

tb__dispatch_t *tb__ros2_context_dispatch(tb_ros2_context_t *context)
{
  return &context->dispatch;
}

bool tb__ros2_context_is_humble(const tb_ros2_context_t *context)
{
  return context->humble;
}

tb__announcer_t *tb__ros2_context_announcer(tb_ros2_context_t *context)
{
  return &context->announcer;
}

tb__shared_sources_t *tb__ros2_context_sources(tb_ros2_context_t *context)
{
  return &context->sources;
}

const tb__arguments_t *tb__ros2_context_arguments(const tb_ros2_context_t *context)
{
  return context->arguments;
}

uint32_t tb__ros2_context_next_service_id(tb_ros2_context_t *context)
{
  return atomic_fetch_add(&context->service_ids, 1) + 1;
}
