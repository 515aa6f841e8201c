#include <timebase/time.h>

#include "value/decimal.h"
#include "value/kind.h"
#include "value/ns.h"

#define DAYS_TO_1970 719162 /* from 0001-01-01, in the proleptic Gregorian calendar */
#define S_PER_DAY    86400

typedef struct civil {
  int year, month, day, hour, minute, second;
} civil_t;

static int days_in_month(int year, int month)
{
  static const char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return days[month - 1] + (month == 2 && leap);
}

/* Days from 1970-01-01 to the first of January, for years from 1 on. */
static int days_to_year(int year)
{
  int past = year - 1;
  return past * 365 + past / 4 - past / 100 + past / 400 - DAYS_TO_1970;
}

static int64_t days_from_date(int year, int month, int day)
{
  int days = days_to_year(year);
  for (int before = 1; before < month; before++)
    days += days_in_month(year, before);
  return days + day - 1;
}

/* The inverse, for days from year 1 on. */
static void date_from_days(int64_t days, civil_t *out)
{
  int left = (int)days;
  out->year = (int)((days + DAYS_TO_1970) / 366) + 1; /* never too late, as no year is longer */
  while (days_to_year(out->year + 1) <= left)
    out->year++;
  left -= days_to_year(out->year);
  out->month = 1;
  while (left >= days_in_month(out->year, out->month))
    left -= days_in_month(out->year, out->month++);
  out->day = left + 1;
}

/* `template` with digits where it has '0'. */
static bool has_form(const char *text, const char *template)
{
  for (; *template; text++, template ++)
    if (*template == '0' ? !tb__is_digit(*text) : *text != *template) return false;
  return true;
}

static int field_value(const char *digits, size_t count)
{
  uint64_t value = 0;
  tb__digits_value(digits, count, &value);
  return (int)value;
}

static bool civil_parse(const char *text, civil_t *out)
{
  if (!has_form(text, "0000-00-00T00:00:00")) return false;
  *out = (civil_t){
      field_value(text, 4),      field_value(text + 5, 2),  field_value(text + 8, 2),
      field_value(text + 11, 2), field_value(text + 14, 2), field_value(text + 17, 2),
  };
  return out->month >= 1 && out->month <= 12 && out->day >= 1 &&
         out->day <= days_in_month(out->year, out->month) && out->hour < 24 && out->minute < 60 &&
         out->second < 60;
}

tb_status_t tb_time_parse(const char *text, tb_time_kind_t kind, tb_time_t *out)
{
  civil_t civil;
  int64_t ns, rest_ns = 0;
  if (!text || !out || !tb__kind_is_valid(kind) || !civil_parse(text, &civil))
    return TB_ERR_INVALID;
  text += sizeof "0000-00-00T00:00:00" - 1;
  if (*text == '.') {
    size_t count = tb__digits_count(++text);
    if (count == 0) return TB_ERR_INVALID;
    rest_ns = tb__fraction_ns(text, count, TB_NS_PER_S);
    text += count;
  }
  if (text[0] != 'Z' || text[1] != '\0') return TB_ERR_INVALID;
  int64_t sec = days_from_date(civil.year, civil.month, civil.day) * S_PER_DAY + civil.hour * 3600 +
                civil.minute * 60 + civil.second;
  tb_status_t status = tb__ns_join(sec, (uint32_t)rest_ns, &ns);
  if (!status) *out = (tb_time_t){ns, kind};
  return status;
}

static char *civil_put(char *out, const civil_t *civil)
{
  const int values[] = {civil->month, civil->day, civil->hour, civil->minute, civil->second};
  out = tb__digits_put(out, (uint64_t)civil->year, 4);
  for (int i = 0; i < 5; i++) {
    *out++ = "--T::"[i];
    out = tb__digits_put(out, (uint64_t)values[i], 2);
  }
  return out;
}

tb_status_t tb_time_format(tb_time_t time, char *buffer, size_t size)
{
  char text[TB_TIME_TEXT_SIZE];
  civil_t civil;
  int64_t sec;
  uint32_t nanosec;
  tb__ns_split(time.ns, &sec, &nanosec);
  int64_t days = sec / S_PER_DAY - (sec % S_PER_DAY < 0);
  int second_of_day = (int)(sec - days * S_PER_DAY);
  date_from_days(days, &civil);
  civil.hour = second_of_day / 3600;
  civil.minute = second_of_day / 60 % 60;
  civil.second = second_of_day % 60;
  char *end = tb__fraction_put(civil_put(text, &civil), nanosec, 9);
  end[0] = 'Z';
  end[1] = '\0';
  return tb__text_copy(text, buffer, size);
}
