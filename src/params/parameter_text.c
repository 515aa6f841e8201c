#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/parameter_reader.h"
#include "params/parameter_scalar.h"

static tb_status_t parse_only_value(tb__parameter_reader_t *reader, tb_ros2_parameter_value_t *out)
{
  tb_status_t status = tb__parameter_reader_next(reader); /* the stream's start */
  if (!status) status = tb__parameter_reader_next(reader);
  if (status) return status;
  if (reader->event.type == YAML_STREAM_END_EVENT)
    return tb__parameter_reader_fail(reader, TB_ERR_INVALID,
                                     "no value: write '' for an empty string");
  status = tb__parameter_reader_next(reader);
  if (!status) status = tb__parameter_reader_value(reader, out);
  if (status) return status;
  status = tb__parameter_reader_next(reader); /* the document's end */
  if (!status) status = tb__parameter_reader_next(reader);
  if (!status && reader->event.type != YAML_STREAM_END_EVENT)
    status =
        tb__parameter_reader_fail(reader, TB_ERR_INVALID, "more than one value: a list is [a, b]");
  if (status) tb_ros2_parameter_value_release(out);
  return status;
}

tb_status_t tb_ros2_parameter_value_parse(const char *text, tb_ros2_parameter_value_t *out,
                                          tb_error_t *error)
{
  if (!text || !out) return tb_error_set(error, TB_ERR_INVALID, "value or result is NULL");
  tb_error_t detail = TB_ERROR_INIT;
  tb_ros2_parameter_value_t value = TB_ROS2_PARAMETER_VALUE_INIT;
  tb__parameter_reader_t reader;
  tb_status_t status = tb__parameter_reader_init(&reader, text, strlen(text), false, &detail);
  if (!status) {
    status = parse_only_value(&reader, &value);
    tb__parameter_reader_fini(&reader);
  }
  if (status) return tb_error_set(error, status, "value '%.80s': %s", text, detail.text);
  *out = value;
  return TB_OK;
}

/* Whether every YAML reader reads it as a string without quotes. */
static bool is_plain(const char *text)
{
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  static const char rest[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/.- ";
  size_t length = strlen(text);
  if (length == 0 || text[length - 1] == ' ' || strspn(text, rest) != length) return false;
  if (!strchr(letters, text[0]) && text[0] != '/' && text[0] != '_') return false;
  if (strcmp(text, "null") == 0 || strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0)
    return false;
  tb_ros2_parameter_value_t value;
  tb__parameter_scalar_resolve(text, &value);
  return value.type == TB_ROS2_PARAMETER_STRING;
}

static bool is_ascii_line(const char *text)
{
  for (; *text; text++) {
    if (*text < ' ' || *text > '~') return false;
  }
  return true;
}

static void print_single_quoted(FILE *stream, const char *text)
{
  fputc('\'', stream);
  for (; *text; text++) {
    if (*text == '\'') fputc('\'', stream);
    fputc(*text, stream);
  }
  fputc('\'', stream);
}

/* The length of the first character, 0 if it is not UTF-8. */
static size_t utf8_decode(const char *text, uint32_t *out)
{
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *bytes = (const unsigned char *)text;
  size_t length = bytes[0] < 0x80   ? 1
                  : bytes[0] < 0xc0 ? 0
                  : bytes[0] < 0xe0 ? 2
                  : bytes[0] < 0xf0 ? 3
                  : bytes[0] < 0xf8 ? 4
                                    : 0;
  if (length == 0) return 0;
  uint32_t c = length == 1 ? bytes[0] : bytes[0] & (0x7fU >> length);
  for (size_t i = 1; i < length; i++) {
    if ((bytes[i] & 0xc0) != 0x80) return 0;
    c = c << 6 | (bytes[i] & 0x3fU);
  }
  if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return 0;
  *out = c;
  return length;
}

/* Whether a quoted text may contain the character unescaped. */
static bool is_printable(uint32_t c)
{
  return (c >= 0x20 && c <= 0x7e) || (c >= 0xa0 && c < 0xd800 && c != 0x2028 && c != 0x2029) ||
         (c >= 0xe000 && c <= 0xfffd && c != 0xfeff) || c >= 0x10000;
}

static tb_status_t print_double_quoted(FILE *stream, const char *text)
{
  fputc('"', stream);
  while (*text) {
    uint32_t c;
    size_t length = utf8_decode(text, &c);
    if (length == 0) return TB_ERR_INVALID;
    if (c == '"' || c == '\\')
      fprintf(stream, "\\%c", (int)c);
    else if (c == '\n' || c == '\t')
      fputs(c == '\n' ? "\\n" : "\\t", stream);
    else if (is_printable(c))
      fwrite(text, 1, length, stream);
    else if (c <= 0xff)
      fprintf(stream, "\\x%02" PRIx32, c);
    else
      fprintf(stream, "\\u%04" PRIx32, c); /* above U+FFFF all are printable */
    text += length;
  }
  fputc('"', stream);
  return TB_OK;
}

static tb_status_t print_string(FILE *stream, const char *text)
{
  if (!text) return TB_ERR_INVALID;
  if (!is_plain(text) && !is_ascii_line(text)) return print_double_quoted(stream, text);
  if (is_plain(text))
    fputs(text, stream);
  else
    print_single_quoted(stream, text);
  return TB_OK;
}

static void print_double(FILE *stream, double value)
{
  char text[TB__DOUBLE_TEXT_SIZE];
  tb__double_format(value, text);
  fputs(text, stream);
}

static tb_status_t print_item(FILE *stream, const tb_ros2_parameter_value_t *value, size_t i)
{
  switch (value->type) {
  case TB_ROS2_PARAMETER_BYTE_ARRAY:
    fprintf(stream, "%u", (unsigned)value->items.bytes[i]);
    return TB_OK;
  case TB_ROS2_PARAMETER_BOOL_ARRAY:
    fputs(value->items.bools[i] ? "true" : "false", stream);
    return TB_OK;
  case TB_ROS2_PARAMETER_INTEGER_ARRAY:
    fprintf(stream, "%" PRId64, value->items.integers[i]);
    return TB_OK;
  case TB_ROS2_PARAMETER_DOUBLE_ARRAY:
    print_double(stream, value->items.doubles[i]);
    return TB_OK;
  default:
    return print_string(stream, value->items.strings[i]);
  }
}

static tb_status_t print_list(FILE *stream, const tb_ros2_parameter_value_t *value)
{
  if (value->count > 0 && !value->items.any) return TB_ERR_INVALID;
  bool needs_tag = value->type == TB_ROS2_PARAMETER_BYTE_ARRAY ||
                   (value->count == 0 && value->type != TB_ROS2_PARAMETER_BOOL_ARRAY);
  if (needs_tag) fprintf(stream, "!%s ", tb_ros2_parameter_type_name(value->type));
  fputc('[', stream);
  for (size_t i = 0; i < value->count; i++) {
    if (i > 0) fputs(", ", stream);
    tb_status_t status = print_item(stream, value, i);
    if (status) return status;
  }
  fputc(']', stream);
  return TB_OK;
}

static tb_status_t print_value(FILE *stream, const tb_ros2_parameter_value_t *value)
{
  switch (value->type) {
  case TB_ROS2_PARAMETER_NOT_SET:
    fputs("!!null null", stream);
    return TB_OK;
  case TB_ROS2_PARAMETER_BOOL:
    fputs(value->bool_value ? "true" : "false", stream);
    return TB_OK;
  case TB_ROS2_PARAMETER_INTEGER:
    fprintf(stream, "%" PRId64, value->integer_value);
    return TB_OK;
  case TB_ROS2_PARAMETER_DOUBLE:
    print_double(stream, value->double_value);
    return TB_OK;
  case TB_ROS2_PARAMETER_STRING:
    return print_string(stream, value->string_value);
  default:
    return tb_ros2_parameter_type_name(value->type) ? print_list(stream, value) : TB_ERR_INVALID;
  }
}

tb_status_t tb_ros2_parameter_value_format(const tb_ros2_parameter_value_t *value, char **out)
{
  if (!value || !out) return TB_ERR_INVALID;
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return TB_ERR_NO_MEMORY;
  tb_status_t status = print_value(stream, value);
  bool failed = ferror(stream) != 0;
  failed = fclose(stream) != 0 || failed;
  if (!status && failed) status = TB_ERR_NO_MEMORY;
  if (status)
    tb__libc_free(text);
  else
    *out = text; /* the program gives it back with free() */
  return status;
}
