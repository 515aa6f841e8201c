#include <timebase/time.h>

#include "value/decimal.h"
#include "value/kind.h"
#include "value/ns.h"

#define DAYS_PER_ERA 146097 /* 400 years */
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

/* Days since 1970-01-01, for years from 0 on. Years begin in March, so that the leap day is last.
 */
static int64_t days_from_date(int year, int month, int day)
{
  int march_year = year - (month <= 2) + 400; /* one era more, so that year 0 in March is not < 0 */
  int era = march_year / 400, year_of_era = march_year % 400;
  int day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
  int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return (int64_t)(era - 1) * DAYS_PER_ERA + day_of_era - 719468;
}

/* The other way round, for days from year 0 on. */
static void date_from_days(int64_t days, civil_t *out)
{
  int64_t shifted = days + 719468;
  int era = (int)(shifted / DAYS_PER_ERA), day_of_era = (int)(shifted % DAYS_PER_ERA);
  int year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int march_month = (5 * day_of_year + 2) / 153;
  out->day = day_of_year - (153 * march_month + 2) / 5 + 1;
  out->month = march_month < 10 ? march_month + 3 : march_month - 9;
  out->year = era * 400 + year_of_era + (out->month <= 2);
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
