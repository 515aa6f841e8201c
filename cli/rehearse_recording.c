#include "rehearse_recording.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/ros2_node.h>
#include <unistd.h>

#include "text.h"

#define OUTPUT_MAX ((size_t)64 << 20) /* bytes of the check's JSON */

extern char **environ;

/* --- recording --- */

static tb_status_t open_graph(rehearse_recording_t *recording, int domain, tb_error_t *error)
{
  static const char *const own[] = {TB__MANIFEST_TOPIC, TB__POINTS_TOPIC};
  tb_ros2_context_options_t context = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb_ros2_recorder_options_t options = TB_ROS2_RECORDER_OPTIONS_INIT;
  context.has_domain_id = domain >= 0;
  context.domain_id = domain >= 0 ? domain : 0;
  options.all = true;
  options.exclude_topics = own; /* the evidence adds them */
  options.exclude_topic_count = 2;
  options.recorder.bag.notes = &recording->evidence.note;
  options.recorder.bag.note_count = 1;
  tb_status_t status = tb_ros2_context_create(&context, &recording->context, error);
  if (!status)
    status = tb_ros2_node_create(recording->context, "rosbag2_recorder", "/", NULL,
                                 &recording->node, error);
  if (!status)
    status = tb_ros2_recorder_create(recording->node, recording->path, &options,
                                     &recording->recorder, error);
  return status;
}

int rehearse_recording_begin(rehearse_recording_t *recording, const command_t *command,
                             const char *path, const char *manifest, int domain)
{
  tb_error_t error = TB_ERROR_INIT;
  recording->command = command;
  recording->path = path;
  int result = record_evidence_load(command, manifest, &recording->evidence);
  if (result) return result;
  tb_status_t status = open_graph(recording, domain, &error);
  if (status) return command_failed(command, status, &error);
  return record_evidence_begin(&recording->evidence, tb_ros2_recorder_core(recording->recorder),
                               recording->context, recording->node);
}

void rehearse_recording_poll(rehearse_recording_t *recording)
{
  if (recording->recorder) record_evidence_poll(&recording->evidence);
}

int rehearse_recording_end(rehearse_recording_t *recording)
{
  tb_error_t error = TB_ERROR_INIT;
  if (!recording->recorder) return EXIT_OK;
  record_evidence_end(&recording->evidence);
  tb_status_t status = tb_ros2_recorder_stop(recording->recorder, &error);
  recording->is_made = !status;
  tb_ros2_recorder_destroy(recording->recorder);
  recording->recorder = NULL;
  return status ? command_failed(recording->command, status, &error) : EXIT_OK;
}

void rehearse_recording_close(rehearse_recording_t *recording)
{
  if (!recording->command) return;
  tb_ros2_recorder_destroy(recording->recorder);
  record_evidence_close(&recording->evidence);
  tb_ros2_node_destroy(recording->node);
  tb_ros2_context_destroy(recording->context);
  *recording = (rehearse_recording_t){.path = recording->path, .is_made = recording->is_made};
}

/* --- the check --- */

static char *read_all(int fd)
{
  size_t size = 0, capacity = 65536;
  char *text = malloc(capacity);
  for (ssize_t got; text && size < OUTPUT_MAX;) {
    if (capacity - size < 4096) {
      char *grown = realloc(text, capacity *= 2);
      if (!grown) {
        free(text);
        return NULL;
      }
      text = grown;
    }
    got = read(fd, text + size, capacity - size - 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += (size_t)got;
  }
  if (text) text[size] = '\0';
  return text;
}

/* Its output, to be freed, and its exit status. NULL: it could not be run. */
static char *run_check(const char *path, int *out_status)
{
  const char *const argv[] = {"timebase", "check", "--json", "--", path, NULL};
  posix_spawn_file_actions_t actions;
  int ends[2], status = 0;
  pid_t pid = 0;
  if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  int code = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, (char *const *)argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char *text = code ? NULL : read_all(ends[0]);
  close(ends[0]);
  while (!code && waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  *out_status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_IO;
  return text;
}

static const char *text_of(const json_t *object, const char *key)
{
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static void note_finding(const json_t *finding, tb__rehearsal_t *result)
{
  const json_t *subject = json_array_get(json_object_get(finding, "subjects"), 0);
  const char *evidence = json_string_value(json_array_get(json_object_get(subject, "evidence"), 0));
  tb__rehearsal_note(result, TB__STEP_RECORDING, TB__PROOF_FAIL, "%s %s: %s (%s)",
                     text_of(finding, "severity"), text_of(finding, "rule"),
                     text_of(finding, "title"), evidence ? evidence : "no evidence");
  size_t index;
  const json_t *caused;
  json_array_foreach(json_object_get(finding, "caused"), index, caused)
      note_finding(caused, result);
}

int rehearse_recording_judge(const rehearse_recording_t *recording, tb__rehearsal_t *result)
{
  int status = EXIT_IO;
  size_t index;
  const json_t *finding;
  if (!recording->is_made) return EXIT_OK;
  char *text = run_check(recording->path, &status);
  json_t *root = text ? json_loads(text, 0, NULL) : NULL;
  free(text);
  const json_t *findings = json_object_get(root, "findings");
  if (status == EXIT_CHECK) {
    json_array_foreach(findings, index, finding)
    {
      if (strcmp(text_of(finding, "severity"), "note") != 0) note_finding(finding, result);
    }
    if (json_is_string(json_object_get(root, "damage")))
      tb__rehearsal_note(result, TB__STEP_RECORDING, TB__PROOF_FAIL, "%s: %s", recording->path,
                         text_of(root, "damage"));
  } else if (status == EXIT_OK) {
    tb__rehearsal_note(result, TB__STEP_RECORDING, TB__PROOF_PASS, "%s: %lld messages, no findings",
                       recording->path,
                       (long long)json_integer_value(json_object_get(root, "messages")));
  } else {
    tb__rehearsal_note(result, TB__STEP_RECORDING, TB__PROOF_NONE,
                       "%s: 'timebase check' could not read it", recording->path);
  }
  json_decref(root);
  return EXIT_OK;
}
