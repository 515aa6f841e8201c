#include "params/parameter_scalar.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words_true[] = {"Y",    "y",    "yes", "Yes", "YES", "true",
                                         "True", "TRUE", "on",  "On",  "ON"};
static const char *const words_false[] = {"N",     "n",     "no",  "No",  "NO", "false",
                                          "False", "FALSE", "off", "Off", "OFF"};
static const char *const words_nan[] = {".nan", ".NaN", ".NAN"};
static const char *const words_infinity[] = {".inf", ".Inf", ".INF"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool is_one_of(const char *text, const char *const *words, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (strcmp(text, words[i]) == 0) return true;
  }
  return false;
}

/* Decimal, 0x... or 0 and octal digits, with or without a sign; not the further forms that newer C
 * libraries accept. */
static bool is_integer(const char *text)
{
  const char *digits = text + (*text == '-' || *text == '+');
  if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
    return digits[2] != '\0' && digits[2 + strspn(digits + 2, "0123456789abcdefABCDEF")] == '\0';
  const char *allowed = digits[0] == '0' ? "01234567" : "0123456789";
  return digits[0] != '\0' && digits[strspn(digits, allowed)] == '\0';
}

static bool to_integer(const char *text, int64_t *out)
{
  if (!is_integer(text)) return false;
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 0);
  if (end == text || *end || errno) return false;
  *out = value;
  return true;
}

/* The program's locale may have another decimal point. */
static locale_t plain_locale(void)
{
  return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static double read_double(const char *text, char **end)
{
  locale_t plain = plain_locale();
  if (!plain) return strtod(text, end);
  double value = strtod_l(text, end, plain);
  freelocale(plain);
  return value;
}

static bool to_double(const char *text, double *out)
{
  const char *unsigned_text = text + (*text == '-' || *text == '+');
  if (is_one_of(text, words_nan, COUNT(words_nan))) {
    *out = NAN;
    return true;
  }
  if (is_one_of(unsigned_text, words_infinity, COUNT(words_infinity))) {
    *out = *text == '-' ? -INFINITY : INFINITY;
    return true;
  }
  if (isspace((unsigned char)*text)) return false;
  char *end = NULL;
  errno = 0;
  double value = read_double(text, &end);
  if (end == text || *end || (errno == ERANGE && isinf(value))) return false;
  *out = value;
  return true;
}

void tb__parameter_scalar_resolve(const char *text, tb_ros2_parameter_value_t *out)
{
  tb_ros2_parameter_value_t value = TB_ROS2_PARAMETER_VALUE_INIT;
  bool is_true = is_one_of(text, words_true, COUNT(words_true));
  if (is_true || is_one_of(text, words_false, COUNT(words_false))) {
    value.type = TB_ROS2_PARAMETER_BOOL;
    value.bool_value = is_true;
  } else if (to_integer(text, &value.integer_value)) {
    value.type = TB_ROS2_PARAMETER_INTEGER;
  } else if (to_double(text, &value.double_value)) {
    value.type = TB_ROS2_PARAMETER_DOUBLE;
  } else {
    value.type = TB_ROS2_PARAMETER_STRING;
    value.string_value = text;
  }
  *out = value;
}

static void print_shortest(double value, char out[TB__DOUBLE_TEXT_SIZE])
{
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(out, TB__DOUBLE_TEXT_SIZE, "%.*g", digits, value);
    double again = strtod(out, NULL);
    if (again >= value && again <= value) return;
  }
}

/* Without a point some YAML readers read "1e+20" as a string, and all read "5" as an integer. */
static void insert_point(char out[TB__DOUBLE_TEXT_SIZE])
{
  if (strchr(out, '.')) return;
  size_t before = strcspn(out, "e");
  memmove(out + before + 2, out + before, strlen(out + before) + 1);
  out[before] = '.';
  out[before + 1] = '0';
}

void tb__double_format(double value, char out[TB__DOUBLE_TEXT_SIZE])
{
  if (isnan(value) || isinf(value)) {
    const char *text = isnan(value) ? ".nan" : value < 0 ? "-.inf" : ".inf";
    snprintf(out, TB__DOUBLE_TEXT_SIZE, "%s", text);
    return;
  }
  locale_t plain = plain_locale();
  locale_t before = plain ? uselocale(plain) : (locale_t)0;
  print_shortest(value, out);
  if (plain) {
    uselocale(before);
    freelocale(plain);
  }
  insert_point(out);
}
