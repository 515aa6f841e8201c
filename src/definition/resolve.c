#include "definition/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "definition/ros1_text.h"

const char *tb__definition_origin_text(tb__definition_origin_t origin)
{
  static const char *const texts[] = {[TB__DEFINITION_UNKNOWN] = "definition unknown",
                                      [TB__DEFINITION_RECORDING] = "the recording",
                                      [TB__DEFINITION_NODE] = "a node",
                                      [TB__DEFINITION_INSTALLED] = "AMENT_PREFIX_PATH",
                                      [TB__DEFINITION_FOLDER] = "--definitions",
                                      [TB__DEFINITION_BUILT_IN] = "built in"};
  size_t index = (size_t)origin;
  return texts[index < sizeof texts / sizeof *texts ? index : TB__DEFINITION_UNKNOWN];
}

static tb_status_t parse(const char *type, const char *text, const char *encoding,
                         tb__definition_origin_t origin, tb__definition_t *out)
{
  tb_error_t failure = TB_ERROR_INIT;
  tb_status_t status =
      tb__schema_parse(type, encoding ? encoding : "", text, strlen(text), &out->schema, &failure);
  if (!status) {
    out->origin = origin;
    return TB_OK;
  }
  if (status == TB_ERR_NO_MEMORY) return status;
  snprintf(out->note, sizeof out->note, "%s: %.450s", tb__definition_origin_text(origin),
           failure.text);
  return TB_ERR_NOT_FOUND;
}

/* None is there if it is empty: of a file that is a type without fields. */
static tb_status_t parse_given(const char *type, const char *text, const char *encoding,
                               tb__definition_origin_t origin, tb__definition_t *out)
{
  return text && text[0] ? parse(type, text, encoding, origin, out) : TB_ERR_NOT_FOUND;
}

static tb_status_t find(const tb__definition_request_t *request, tb__definition_origin_t origin,
                        tb__definition_t *out)
{
  char type[TB__DEFINITION_NAME_SIZE];
  tb__found_definition_t found;
  if (!tb__definition_full_name(request->type, type)) return TB_ERR_NOT_FOUND;
  tb_status_t status = tb__message_definition_find(type, origin, &request->places, &found);
  if (status) return status == TB_ERR_NO_MEMORY ? status : TB_ERR_NOT_FOUND;
  status = parse(request->type, found.text, found.encoding, origin, out);
  free(found.text);
  return status;
}

tb_status_t tb__definition_resolve_at(const tb__definition_request_t *request,
                                      tb__definition_origin_t origin, tb__definition_t *out)
{
  *out = (tb__definition_t){.schema = NULL};
  switch (origin) {
  case TB__DEFINITION_RECORDING:
    return parse_given(request->type, request->recorded, request->recorded_encoding, origin, out);
  case TB__DEFINITION_NODE:
    return parse_given(request->type, request->described, TB__MESSAGE_DEFINITION_ENCODING, origin,
                       out);
  case TB__DEFINITION_UNKNOWN:
    return TB_ERR_NOT_FOUND;
  default:
    return find(request, origin, out);
  }
}

/* --- connections of ROS 1 --- */

bool tb__is_md5sum(const char *hash)
{
  return hash && strlen(hash) == TB__MD5_TEXT_SIZE - 1 &&
         strspn(hash, "0123456789abcdef") == TB__MD5_TEXT_SIZE - 1;
}

/* TB_ERR_NO_MEMORY; a text that cannot be summed has another one. */
static tb_status_t has_sum(const char *type, const char *text, const char *md5sum, bool *out)
{
  char sum[TB__MD5_TEXT_SIZE];
  tb_status_t status = tb__ros1_md5sum(type, text, sum, NULL);
  *out = !status && strcmp(sum, md5sum) == 0;
  return status == TB_ERR_NO_MEMORY ? status : TB_OK;
}

/* ROS 2's text as ROS 1 has it, if that has the sum: with ROS 1's own types, or as it is. */
static tb_status_t change_to_ros1(const char *type, const char *md5sum, const char *ros2,
                                  char **out)
{
  for (int own = 1; own >= 0; own--) {
    char *text = NULL;
    bool fits = false;
    tb_status_t status = tb__ros2_text_to_ros1(type, ros2, own, &text, NULL);
    if (!status) status = has_sum(type, text, md5sum, &fits);
    if (!status && fits) {
      *out = text;
      return TB_OK;
    }
    free(text);
    if (status) return status;
  }
  return TB_ERR_NOT_FOUND;
}

static tb_status_t find_by_sum(const char *type, const char *md5sum,
                               const tb__definition_places_t *places, char **out)
{
  char name[TB__DEFINITION_NAME_SIZE];
  tb_status_t status = TB_ERR_NOT_FOUND;
  if (!tb__ros2_name_of(type, name)) return status;
  for (int origin = TB__DEFINITION_INSTALLED;
       origin <= TB__DEFINITION_BUILT_IN && status != TB_OK && status != TB_ERR_NO_MEMORY;
       origin++) {
    tb__found_definition_t found = {.text = NULL};
    status = tb__message_definition_find(name, (tb__definition_origin_t)origin, places, &found);
    if (!status && strcmp(found.encoding, TB__MESSAGE_DEFINITION_ENCODING) != 0)
      status = TB_ERR_NOT_FOUND; /* an .idl file has other comments and constants */
    if (!status) status = change_to_ros1(type, md5sum, found.text, out);
    free(found.text);
  }
  return status;
}

tb_status_t tb__ros1_definition_of(const char *type, const char *md5sum, const char *text,
                                   const tb__definition_places_t *places, char **out,
                                   tb_error_t *error)
{
  static const tb__definition_places_t nowhere = {.prefixes = NULL};
  tb_status_t status = TB_ERR_NOT_FOUND;
  bool is_known = tb__is_md5sum(md5sum);
  if (!text) text = "";
  bool fits = !is_known;
  if (is_known && has_sum(type, text, md5sum, &fits))
    return tb__no_memory_for(error, "message definition");
  if (!fits) status = find_by_sum(type, md5sum, places ? places : &nowhere, out);
  if (!status) return TB_OK;
  if (status == TB_ERR_NO_MEMORY) return tb__no_memory_for(error, "message definition");
  if (!fits && !*text)
    return tb_error_set(error, TB_ERR_NOT_FOUND,
                        "definition of %.150s: it is empty, and none with its md5sum %s is known",
                        type, md5sum);
  *out = strdup(*text || !is_known ? text : "\n"); /* a type without fields */
  return *out ? TB_OK : tb__no_memory_for(error, "message definition");
}

tb_status_t tb__definition_resolve(const tb__definition_request_t *request, tb__definition_t *out,
                                   tb_error_t *error)
{
  tb__definition_t found;
  char note[sizeof found.note] = ""; /* the first failure */
  tb_status_t status = TB_ERR_NOT_FOUND;
  for (int origin = TB__DEFINITION_RECORDING;
       origin <= TB__DEFINITION_BUILT_IN && status == TB_ERR_NOT_FOUND; origin++) {
    status = tb__definition_resolve_at(request, (tb__definition_origin_t)origin, &found);
    if (!note[0]) memcpy(note, found.note, sizeof note);
  }
  if (status == TB_ERR_NO_MEMORY) return tb__no_memory_for(error, "message definition");
  if (status)
    return tb_error_set(error, status, "definition of %.150s unknown%s%.300s", request->type,
                        note[0] ? ": " : "", note);
  memcpy(found.note, note, sizeof note);
  *out = found;
  return TB_OK;
}
