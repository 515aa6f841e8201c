#include "text.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/text.h>

#define CONVERSION_SIZE 48

/* A conversion of a format, such as "%-*s". */
typedef struct conversion {
  char text[CONVERSION_SIZE]; /* for printf, with numbers instead of '*' */
  size_t used;
  bool is_left;
  int width, precision; /* -1: none */
  char length;          /* 'l', 'z', 'j' or 't', 'L' for "ll"; '\0': int, double */
  char kind;
} conversion_t;

/* A va_list from which functions may take values. */
typedef struct arguments {
  va_list list;
} arguments_t;

static int columns_of(const char *escaped)
{
  int columns = 0;
  for (; *escaped; escaped++)
    columns += (*escaped & 0xC0) != 0x80;
  return columns;
}

/* Prints at most `most` columns and returns how many; `out` may be NULL. */
static int print_text(FILE *out, const char *text, int most)
{
  char one[TB_TEXT_CHARACTER_SIZE];
  int columns = 0;
  for (size_t taken; (taken = tb_text_escape_character(text, one)) > 0; text += taken) {
    int more = columns_of(one);
    if (more > most - columns) break;
    if (out) fputs(one, out);
    columns += more;
  }
  return columns;
}

static void put(conversion_t *conversion, char character)
{
  if (conversion->used + 1 < CONVERSION_SIZE) conversion->text[conversion->used++] = character;
  conversion->text[conversion->used] = '\0';
}

/* A width or precision, if there is one. */
static const char *read_number(const char *format, conversion_t *conversion, arguments_t *args,
                               int *out)
{
  char digits[16];
  if (*format == '*') {
    *out = va_arg(args->list, int);
    format++;
  } else {
    char *end;
    *out = (int)strtol(format, &end, 10);
    if (end == format) return format;
    format = end;
  }
  snprintf(digits, sizeof digits, "%d", *out);
  for (const char *digit = digits; *digit; digit++)
    put(conversion, *digit);
  return format;
}

static const char *read_length(const char *format, conversion_t *conversion)
{
  for (; *format && strchr("hlzjt", *format); format++) {
    conversion->length = *format == 'l' && conversion->length == 'l' ? 'L' : *format;
    put(conversion, *format);
  }
  return format;
}

/* `format` is the text after the '%'. Returns the text after the conversion. */
static const char *read_conversion(const char *format, arguments_t *args, conversion_t *out)
{
  *out = (conversion_t){.width = 0, .precision = -1};
  put(out, '%');
  for (; *format && strchr("-+ #0", *format); format++) {
    out->is_left |= *format == '-';
    put(out, *format);
  }
  format = read_number(format, out, args, &out->width);
  if (*format == '.') {
    put(out, *format++);
    out->precision = 0;
    format = read_number(format, out, args, &out->precision);
  }
  format = read_length(format, out);
  out->kind = *format;
  put(out, *format);
  return *format ? format + 1 : format;
}

static void print_padded(FILE *out, const conversion_t *conversion, const char *text)
{
  int most = conversion->precision < 0 ? INT_MAX : conversion->precision;
  bool is_left = conversion->is_left || conversion->width < 0;
  int gap = abs(conversion->width) - print_text(NULL, text, most);
  if (!is_left) fprintf(out, "%*s", gap > 0 ? gap : 0, "");
  print_text(out, text, most);
  if (is_left) fprintf(out, "%*s", gap > 0 ? gap : 0, "");
}

/* The same bits, whether signed or not. */
static intmax_t take_integer(arguments_t *args, char length, bool is_unsigned)
{
  switch (length) {
  case 'l': {
    long value = va_arg(args->list, long);
    return is_unsigned ? (intmax_t)(unsigned long)value : value;
  }
  case 'L':
    return va_arg(args->list, long long);
  case 'j':
    return va_arg(args->list, intmax_t);
  case 'z':
  case 't': {
    ptrdiff_t value = va_arg(args->list, ptrdiff_t);
    return is_unsigned ? (intmax_t)(size_t)value : value;
  }
  default: {
    int value = va_arg(args->list, int);
    return is_unsigned ? (intmax_t)(unsigned)value : value;
  }
  }
}

/* The length modifier is replaced: all integers are printed as intmax_t. */
static void print_integer(FILE *out, const conversion_t *conversion, arguments_t *args)
{
  char format[CONVERSION_SIZE + 1];
  size_t used = strcspn(conversion->text + 1, "hlzjtdiuxXo") + 1;
  bool is_unsigned = strchr("uxXo", conversion->kind);
  snprintf(format, sizeof format, "%.*sj%c", (int)used, conversion->text, conversion->kind);
  fprintf(out, format, take_integer(args, conversion->length, is_unsigned));
}

static void print_conversion(FILE *out, const conversion_t *conversion, arguments_t *args)
{
  char character[2] = "";
  switch (conversion->kind) {
  case '%':
    fputc('%', out);
    return;
  case 's': {
    const char *text = va_arg(args->list, const char *);
    print_padded(out, conversion, text ? text : "(null)");
    return;
  }
  case 'c':
    character[0] = (char)va_arg(args->list, int);
    print_padded(out, conversion, character);
    return;
  case 'p':
    fprintf(out, conversion->text, va_arg(args->list, void *));
    return;
  default:
    if (strchr("diuxXo", conversion->kind))
      print_integer(out, conversion, args);
    else
      fprintf(out, conversion->text, va_arg(args->list, double));
  }
}

static void print_all(FILE *out, const char *format, va_list args)
{
  arguments_t arguments;
  conversion_t conversion;
  va_copy(arguments.list, args);
  while (*format) {
    size_t plain = strcspn(format, "%");
    fwrite(format, 1, plain, out);
    format += plain;
    if (!*format) break;
    format = read_conversion(format + 1, &arguments, &conversion);
    print_conversion(out, &conversion, &arguments);
  }
  va_end(arguments.list);
}

/* Standard error has no buffer, so the text is written in one call. */
static void (*_Atomic before_text)(void);

void text_set_before(void (*before)(void))
{
  atomic_store(&before_text, before);
}

static void begin_text(const FILE *out)
{
  void (*before)(void) = atomic_load(&before_text);
  if (before && (out == stdout || out == stderr)) before();
}

void text_to_v(FILE *out, const char *format, va_list args)
{
  begin_text(out);
  char *text = NULL;
  size_t size;
  FILE *buffer = out == stderr ? open_memstream(&text, &size) : NULL;
  print_all(buffer ? buffer : out, format, args);
  if (!buffer) return;
  if (fclose(buffer) == 0) fwrite(text, 1, size, out);
  free(text);
}

void text_to(FILE *out, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  text_to_v(out, format, args);
  va_end(args);
}

void text_out(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  text_to_v(stdout, format, args);
  va_end(args);
}

void text_err(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  text_to_v(stderr, format, args);
  va_end(args);
}

void text_own(FILE *out, const char *text)
{
  begin_text(out);
  fputs(text, out);
}

char *text_harmless(const char *text)
{
  size_t size = tb_text_escape(text, NULL, 0) + 1;
  char *result = malloc(size);
  if (result) tb_text_escape(text, result, size);
  return result;
}

int text_columns(const char *text)
{
  return print_text(NULL, text, INT_MAX);
}

#define FOLD_KINDS 64
#define FOLD_SHOWN 5

/* With one '#' for each word that has a digit. */
static void find_kind(const char *report, char *out, size_t size)
{
  size_t used = 0;
  while (*report && used + 1 < size) {
    size_t length = 0;
    bool has_digit = false;
    for (; isalnum((unsigned char)report[length]); length++)
      has_digit |= isdigit((unsigned char)report[length]) != 0;
    if (length == 0) length = 1;
    size_t taken = has_digit ? 1 : length < size - 1 - used ? length : size - 1 - used;
    memcpy(out + used, has_digit ? "#" : report, taken);
    used += taken;
    report += length;
  }
  out[used] = '\0';
}

static struct {
  char kind[500];
  unsigned count;
} kinds[FOLD_KINDS];

void text_fold_reset(void)
{
  memset(kinds, 0, sizeof kinds);
}

const char *text_fold(const char *report)
{
  char kind[sizeof kinds[0].kind];
  size_t i = 0;
  find_kind(report, kind, sizeof kind);
  while (i < FOLD_KINDS && kinds[i].count && strcmp(kinds[i].kind, kind) != 0)
    i++;
  if (i == FOLD_KINDS) return "";
  memcpy(kinds[i].kind, kind, sizeof kind);
  if (kinds[i].count == FOLD_SHOWN) return NULL;
  return ++kinds[i].count == FOLD_SHOWN
             ? "; further reports like this one are counted, but not shown"
             : "";
}
