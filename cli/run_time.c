/* The time that `timebase run` gives: whether it can be had, and whether it has begun. */
#include <stdlib.h>
#include <string.h>
#include <timebase/clock.h>
#include <timebase/shm_readers.h>
#include <timebase/source.h>

#include "run.h"
#include "text.h"

struct run_time {
  const run_arguments_t *arguments;
  const char *source_name; /* shm:NAME */
  tb_source_t *source;
  tb_clock_t *clock;
};

int run_time_check_name(const command_t *command, const char *source)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_shm_readers_t *readers;
  tb_status_t status =
      tb_shm_readers_create(source + strlen(RUN_TIME_PREFIX), NULL, &readers, &error);
  if (status == TB_ERR_INVALID)
    return command_usage_error(command, "--source %s: %s", source, error.text);
  if (!status) tb_shm_readers_destroy(readers);
  return EXIT_OK; /* whatever else is wrong is found where the page is opened */
}

int run_time_open(const command_t *command, const run_arguments_t *arguments,
                  const run_environment_t *environment, run_time_t **out)
{
  tb_error_t error = TB_ERROR_INIT;
  run_time_t *self = calloc(1, sizeof *self);
  if (!self) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  *out = self;
  self->arguments = arguments;
  self->source_name = environment->source;
  tb_status_t status = tb_source_create_from_name(environment->source, &self->source, &error);
  if (status) return command_failed(command, status, &error);
  tb_clock_options_t options = {TB_TIME_ROS, self->source};
  status = tb_clock_create(&options, &self->clock);
  return status ? command_failed(command, status, NULL) : EXIT_OK;
}

void run_time_stop(run_time_t *self)
{
  if (self->clock) tb_clock_destroy(self->clock);
  if (self->source) tb_source_destroy(self->source);
  self->clock = NULL;
  self->source = NULL;
}

void run_time_close(run_time_t *self)
{
  if (self) run_time_stop(self);
  free(self);
}

static tb_clock_state_t state_of(const run_time_t *self)
{
  tb_clock_reading_t reading;
  return tb_clock_read(self->clock, &reading) ? TB_CLOCK_CLOSED : reading.state;
}

bool run_time_has_begun(const run_time_t *self)
{
  tb_clock_state_t state = state_of(self);
  return state >= TB_CLOCK_RUNNING && state != TB_CLOCK_CLOSED;
}

const char *run_time_reason(const run_time_t *self)
{
  if (run_time_has_begun(self)) return NULL;
  if (self->arguments->relay) return "no tick of /clock has come";
  return state_of(self) == TB_CLOCK_NO_PUBLISHER ? "the time has no publisher"
                                                 : "the publisher of the time has not set it yet";
}

void run_time_note(const run_time_t *self)
{
  const char *name = self->source_name + strlen(RUN_TIME_PREFIX);
  if (self->arguments->relay || state_of(self) != TB_CLOCK_NO_PUBLISHER) return;
  text_err("timebase run: note: %s has no publisher yet: its time is zero until there is one, such "
           "as ",
           self->source_name);
  text_err("'timebase serve --shm %s'\n", name);
}
