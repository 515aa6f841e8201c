#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/reencoder.h>

#include "base/no_memory.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "definition/message_definition.h"
#include "definition/reencode.h"
#include "definition/resolve.h"
#include "definition/ros1_text.h"

/* A type, with what belongs to it. */
typedef struct side {
  tb_reencoder_type_t type; /* as callers see it */
  char *name, *text;
  tb__schema_t *schema;
} side_t;

struct tb_reencoder {
  side_t ros1, ros2;
  const side_t *from;
  bool is_derived;
  char md5sum[TB__MD5_TEXT_SIZE];
  tb__reencode_plan_t plan;
  tb__reencode_buffer_t buffer;
  uint32_t sequence; /* of the next message to ROS 1 */
};

/* --- types --- */

static void side_fini(side_t *side)
{
  tb__schema_destroy(side->schema);
  free(side->name);
  free(side->text);
}

/* Takes `text`, also on failure. */
static tb_status_t side_init(side_t *side, const char *name, const char *encoding, char *text,
                             tb_error_t *error)
{
  side->text = text;
  side->name = strdup(name);
  if (!side->name || !side->text) return tb__no_memory_for(error, "re-encoder");
  side->type =
      (tb_reencoder_type_t){.name = side->name, .encoding = encoding, .definition = side->text};
  return tb__schema_parse(name, encoding, text, strlen(text), &side->schema, error);
}

static bool is_ros1(const tb_reencoder_type_t *type)
{
  if (type->encoding && type->encoding[0])
    return strcmp(type->encoding, TB__MESSAGE_ROS1_ENCODING) == 0;
  const char *slash = strchr(type->name, '/');
  return slash && !strchr(slash + 1, '/');
}

static const char *encoding_of(const tb_reencoder_type_t *type)
{
  static const char *const known[] = {TB__MESSAGE_DEFINITION_ENCODING, TB__MESSAGE_IDL_ENCODING,
                                      TB__MESSAGE_ROS1_ENCODING, TB__MESSAGE_MIXED_ENCODING,
                                      TB__MESSAGE_UNKNOWN_ENCODING};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (type->encoding && strcmp(type->encoding, known[i]) == 0) return known[i];
  return ""; /* parsing names it */
}

static tb_status_t side_copy(side_t *side, const tb_reencoder_type_t *type,
                             const tb__definition_places_t *places, tb_error_t *error)
{
  char *text = NULL;
  if (!is_ros1(type) || !places)
    return side_init(side, type->name, encoding_of(type), strdup(type->definition), error);
  tb_status_t status =
      tb__ros1_definition_of(type->name, type->md5sum, type->definition, places, &text, error);
  return status ? status : side_init(side, type->name, TB__MESSAGE_ROS1_ENCODING, text, error);
}

/* --- counterparts --- */

/* Found files that are wrong leave it to the next place, and are named if there is none. */
static tb_status_t find_ros2(side_t *side, const char *name, const tb__definition_places_t *places,
                             tb_error_t *error)
{
  tb__found_definition_t found;
  tb_error_t first = TB_ERROR_INIT;
  for (int origin = TB__DEFINITION_INSTALLED; origin <= TB__DEFINITION_BUILT_IN; origin++) {
    tb_status_t status =
        tb__message_definition_find(name, (tb__definition_origin_t)origin, places, &found);
    if (status == TB_ERR_NO_MEMORY) return tb__no_memory_for(error, "message definition");
    if (status) continue;
    side_fini(side);
    *side = (side_t){.schema = NULL};
    status = side_init(side, name, found.encoding, found.text, first.status ? NULL : &first);
    if (!status || status == TB_ERR_NO_MEMORY) return status;
  }
  return tb_error_set(error, TB_ERR_NOT_FOUND, "definition of %.150s unknown%s%.300s", name,
                      first.status ? ": " : "", first.status ? first.text : "");
}

static tb_status_t derive_ros2(tb_reencoder_t *reencoder, const char *name, tb_error_t *error)
{
  char *text = NULL;
  side_fini(&reencoder->ros2);
  reencoder->ros2 = (side_t){.schema = NULL};
  tb_status_t status =
      tb__ros1_text_to_ros2(reencoder->ros1.name, reencoder->ros1.text, &text, error);
  reencoder->is_derived = !status;
  return status ? status
                : side_init(&reencoder->ros2, name, TB__MESSAGE_DEFINITION_ENCODING, text, error);
}

static tb_status_t find_counterpart_in_ros2(tb_reencoder_t *reencoder,
                                            const tb__definition_places_t *places,
                                            tb_error_t *error)
{
  char name[TB__DEFINITION_NAME_SIZE];
  if (!tb__ros2_name_of(reencoder->ros1.name, name))
    return tb_error_set(error, TB_ERR_UNSUPPORTED, "%.150s: not a type's name of ROS 1",
                        reencoder->ros1.name);
  tb_status_t status = find_ros2(&reencoder->ros2, name, places, error);
  return status == TB_ERR_NOT_FOUND ? derive_ros2(reencoder, name, error) : status;
}

static tb_status_t try_match(const tb_reencoder_t *reencoder)
{
  tb__reencode_plan_t plan;
  tb_status_t status =
      tb__reencode_plan_init(&plan, reencoder->ros1.schema, reencoder->ros2.schema, true, NULL);
  tb__reencode_plan_fini(&plan);
  return status;
}

/* Of ROS 2's definition. ROS 1's own types, if these are the same; else those of the text, unless
 * ROS 1 has another type of that name. */
static tb_status_t derive_ros1_of(tb_reencoder_t *reencoder, const char *name,
                                  const char *definition, tb_error_t *error)
{
  bool has_own = tb__ros1_has_own(name);
  for (bool has_known = true;; has_known = false) {
    char *text = NULL;
    bool is_last = !has_known || has_own;
    tb_status_t status = tb__ros2_text_to_ros1(name, definition, has_known, &text, error);
    if (status) return status;
    status =
        side_init(&reencoder->ros1, name, TB__MESSAGE_ROS1_ENCODING, text, is_last ? error : NULL);
    if (!status && !is_last) status = try_match(reencoder);
    if (is_last || !status) return status;
    if (status == TB_ERR_NO_MEMORY) return tb__no_memory_for(error, "re-encoder");
    side_fini(&reencoder->ros1);
    reencoder->ros1 = (side_t){.schema = NULL};
  }
}

static tb_status_t derive_ros1(tb_reencoder_t *reencoder, const char *name, tb_error_t *error)
{
  const side_t *ros2 = &reencoder->ros2;
  char *written = NULL;
  if (strcmp(ros2->type.encoding, TB__MESSAGE_DEFINITION_ENCODING) == 0)
    return derive_ros1_of(reencoder, name, ros2->text, error);
  tb_status_t status = tb__schema_to_text(ros2->schema, &written, error);
  if (!status) status = derive_ros1_of(reencoder, name, written, error);
  free(written);
  return status;
}

static tb_status_t find_counterpart_in_ros1(tb_reencoder_t *reencoder, tb_error_t *error)
{
  char name[TB__DEFINITION_NAME_SIZE];
  if (!tb__ros1_name_of(reencoder->ros2.name, name))
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "%.150s: not a message's type, so ROS 1 has no counterpart",
                        reencoder->ros2.name);
  return derive_ros1(reencoder, name, error);
}

/* Neither text is known: that of ROS 2 is looked for. */
static tb_status_t find_both(tb_reencoder_t *reencoder, const tb_reencoder_type_t *from,
                             const tb__definition_places_t *places, tb_error_t *error)
{
  char name[TB__DEFINITION_NAME_SIZE];
  bool is_name = is_ros1(from) ? tb__ros2_name_of(from->name, name)
                               : tb__definition_full_name(from->name, name);
  if (!is_name)
    return tb_error_set(error, TB_ERR_UNSUPPORTED, "%.150s: not a message's type", from->name);
  tb_status_t status = find_ros2(&reencoder->ros2, name, places, error);
  if (status) return status;
  return is_ros1(from) ? derive_ros1(reencoder, from->name, error)
                       : find_counterpart_in_ros1(reencoder, error);
}

/* --- re-encoders --- */

static tb_status_t plan(tb_reencoder_t *reencoder, bool to_ros1, tb_error_t *error)
{
  tb_status_t status = tb__reencode_plan_init(&reencoder->plan, reencoder->ros1.schema,
                                              reencoder->ros2.schema, to_ros1, error);
  return status ? status
                : tb__ros1_md5sum(reencoder->ros1.name, reencoder->ros1.text, reencoder->md5sum,
                                  error);
}

/* A text that a recording has is wrong: it leaves it to the next place, and is named where there is
 * none. */
static tb_status_t find_instead(tb_reencoder_t *reencoder, const tb_reencoder_type_t *from,
                                const tb__definition_places_t *places, tb_status_t failed)
{
  side_fini(&reencoder->ros2);
  reencoder->ros2 = (side_t){.schema = NULL};
  tb_status_t status = find_both(reencoder, from, places, NULL);
  return status == TB_OK || status == TB_ERR_NO_MEMORY ? status : failed;
}

static tb_status_t make(tb_reencoder_t *reencoder, const tb_reencoder_type_t *from,
                        const tb_reencoder_type_t *to, const tb__definition_places_t *places,
                        tb_error_t *error)
{
  bool to_ros1 = !is_ros1(from);
  side_t *its = to_ros1 ? &reencoder->ros2 : &reencoder->ros1;
  side_t *other = to_ros1 ? &reencoder->ros1 : &reencoder->ros2;
  reencoder->from = its;
  bool is_given = from->definition && (from->definition[0] || !to_ros1);
  if (!to && !is_given && (to_ros1 || !tb__is_md5sum(from->md5sum)))
    return find_both(reencoder, from, places, error);
  tb_status_t status = side_copy(its, from, places, error);
  if (!status && to) return side_copy(other, to, NULL, error);
  if (!status)
    return to_ros1 ? find_counterpart_in_ros1(reencoder, error)
                   : find_counterpart_in_ros2(reencoder, places, error);
  return status != TB_ERR_NO_MEMORY && to_ros1 && !to
             ? find_instead(reencoder, from, places, status)
             : status;
}

static tb_status_t create(const tb_reencoder_type_t *from, const tb_reencoder_type_t *to,
                          const tb__definition_places_t *places, tb_reencoder_t **out,
                          tb_error_t *error)
{
  tb_reencoder_t *reencoder = calloc(1, sizeof *reencoder);
  if (!reencoder) return tb__no_memory_for(error, "re-encoder");
  tb_status_t status = make(reencoder, from, to, places, error);
  if (!status) status = plan(reencoder, !is_ros1(from), error);
  if (status)
    tb_reencoder_destroy(reencoder);
  else
    *out = reencoder;
  return status;
}

static bool is_complete(const tb_reencoder_type_t *type)
{
  return type && type->name && type->definition && type->encoding;
}

tb_status_t tb_reencoder_create_sized(const tb_reencoder_type_t *from, size_t from_size,
                                      const tb_reencoder_type_t *to, size_t to_size,
                                      tb_reencoder_t **out, tb_error_t *error)
{
  tb_reencoder_type_t known_from, known_to;
  if (!TB__SIZED_IN(from, from_size, known_from) || !TB__SIZED_IN(to, to_size, known_to))
    return tb__sized_unsupported(error, "tb_reencoder_type_t");
  if (!is_complete(from) || !is_complete(to) || !out)
    return tb__null_argument(error, "tb_reencoder_create");
  if (is_ros1(from) == is_ros1(to))
    return tb_error_set(error, TB_ERR_UNSUPPORTED, "%.150s and %.150s are both of ROS %d",
                        from->name, to->name, is_ros1(from) ? 1 : 2);
  return create(from, to, NULL, out, error);
}

tb_status_t tb_reencoder_find_sized(const tb_reencoder_type_t *from, size_t from_size,
                                    const char *const *folders, size_t folder_count,
                                    tb_reencoder_t **out, tb_error_t *error)
{
  tb_reencoder_type_t known;
  if (!TB__SIZED_IN(from, from_size, known))
    return tb__sized_unsupported(error, "tb_reencoder_type_t");
  if (!from || !from->name || (from->definition && !from->encoding) ||
      (!folders && folder_count > 0) || !out)
    return tb__null_argument(error, "tb_reencoder_find");
  const tb__definition_places_t places = {getenv("AMENT_PREFIX_PATH"), folders, folder_count};
  return create(from, NULL, &places, out, error);
}

void tb_reencoder_destroy(tb_reencoder_t *reencoder)
{
  if (!reencoder) return;
  side_fini(&reencoder->ros1);
  side_fini(&reencoder->ros2);
  tb__reencode_plan_fini(&reencoder->plan);
  free(reencoder->buffer.data);
  free(reencoder);
}

tb_status_t tb_reencoder_run(tb_reencoder_t *reencoder, const void *data, size_t size,
                             const void **out, size_t *out_size, tb_error_t *error)
{
  if (!reencoder || (!data && size > 0) || !out || !out_size)
    return tb__null_argument(error, __func__);
  const tb__reencode_input_t input = {.type = reencoder->from->name,
                                      .data = data ? data : "",
                                      .size = size,
                                      .sequence = reencoder->sequence};
  tb_status_t status = tb__reencode_run(&reencoder->plan, &input, &reencoder->buffer, error);
  if (status) return status;
  reencoder->sequence++;
  *out = reencoder->buffer.data;
  *out_size = reencoder->buffer.size;
  return TB_OK;
}

const tb_reencoder_type_t *tb_reencoder_ros1(const tb_reencoder_t *reencoder)
{
  return reencoder ? &reencoder->ros1.type : NULL;
}

const tb_reencoder_type_t *tb_reencoder_ros2(const tb_reencoder_t *reencoder)
{
  return reencoder ? &reencoder->ros2.type : NULL;
}

const char *tb_reencoder_md5sum(const tb_reencoder_t *reencoder)
{
  return reencoder ? reencoder->md5sum : "";
}

bool tb_reencoder_is_derived(const tb_reencoder_t *reencoder)
{
  return reencoder && reencoder->is_derived;
}
