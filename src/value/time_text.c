#include <stdio.h>
#include <string.h>
#include <timebase/time.h>

#include "value/nanoseconds.h"

#define SECONDS_PER_DAY 86400

typedef struct date {
  int64_t year;
  int month, day;
} date_t;

/* Days since 1970-01-01 and back, in the Gregorian calendar of 400-year cycles that begin in March,
 * so that the leap day comes last. */
static int64_t days_from_date(date_t date)
{
  int64_t year = date.year - (date.month <= 2);
  int64_t cycle = (year >= 0 ? year : year - 399) / 400;
  int64_t year_of_cycle = year - cycle * 400;
  int month = (date.month + 9) % 12;
  int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
  return cycle * 146097 + year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 +
         day_of_year - 719468;
}

static date_t date_from_days(int64_t days)
{
  days += 719468;
  int64_t cycle = (days >= 0 ? days : days - 146096) / 146097;
  int64_t day = days - cycle * 146097;
  int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
  int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
  int64_t month = (5 * day_of_year + 2) / 153;
  return (date_t){
      .year = year + cycle * 400 + (month >= 10),
      .month = (int)(month < 10 ? month + 3 : month - 9),
      .day = (int)(day_of_year - (153 * month + 2) / 5 + 1),
  };
}

/* Exactly `digits` digits, then the character `end`. NULL: something else. */
static const char *field_read(const char *text, int digits, char end, int *out)
{
  int value = 0;
  for (int i = 0; i < digits; i++, text++) {
    if (*text < '0' || *text > '9')
      return NULL;
    value = value * 10 + (*text - '0');
  }
  *out = value;
  if (!end)
    return text;
  return *text == end ? text + 1 : NULL;
}

/* ".5Z" or "Z" up to the end of the text. */
static bool fraction_read(const char *text, int *out_ns)
{
  int ns = 0, unit = 100000000;
  if (*text == '.') {
    const char *start = ++text;
    for (; *text >= '0' && *text <= '9'; text++, unit /= 10) {
      if (unit == 0)
        return false;
      ns += (*text - '0') * unit;
    }
    if (text == start)
      return false;
  }
  *out_ns = ns;
  return text[0] == 'Z' && text[1] == '\0';
}

static bool date_exists(date_t date)
{
  date_t same = date_from_days(days_from_date(date));
  return date.month >= 1 && date.month <= 12 && date.day >= 1 && same.month == date.month &&
         same.day == date.day;
}

tb_status_t tb_time_parse(const char *text, tb_time_kind_t kind, tb_time_t *out)
{
  int year, hour, minute, second, ns;
  date_t date;
  if (!text || !out || (kind != TB_TIME_SYSTEM && kind != TB_TIME_ROS))
    return TB_ERR_INVALID;
  if (!(text = field_read(text, 4, '-', &year)) || !(text = field_read(text, 2, '-', &date.month)) ||
      !(text = field_read(text, 2, 'T', &date.day)) || !(text = field_read(text, 2, ':', &hour)) ||
      !(text = field_read(text, 2, ':', &minute)) || !(text = field_read(text, 2, 0, &second)) ||
      !fraction_read(text, &ns))
    return TB_ERR_INVALID;
  date.year = year;
  if (!date_exists(date) || hour > 23 || minute > 59 || second > 59)
    return TB_ERR_INVALID;
  int64_t seconds = days_from_date(date) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
  struct timespec value = {.tv_sec = seconds, .tv_nsec = ns};
  int64_t total_ns;
  tb_status_t status = tb__ns_from_timespec(value, &total_ns);
  if (!status)
    *out = (tb_time_t){total_ns, kind};
  return status;
}

tb_status_t tb_time_format(tb_time_t time, char *buffer, size_t size)
{
  if (!buffer)
    return TB_ERR_INVALID;
  struct timespec value = tb__ns_to_timespec(time.ns);
  int64_t days = value.tv_sec / SECONDS_PER_DAY, second = value.tv_sec % SECONDS_PER_DAY;
  if (second < 0) {
    second += SECONDS_PER_DAY;
    days--;
  }
  date_t date = date_from_days(days);
  char fraction[16] = "", text[64];
  if (value.tv_nsec) {
    snprintf(fraction, sizeof fraction, ".%09ld", value.tv_nsec);
    for (size_t end = strlen(fraction); fraction[end - 1] == '0'; end--)
      fraction[end - 1] = '\0';
  }
  int length = snprintf(text, sizeof text, "%04lld-%02d-%02dT%02lld:%02lld:%02lld%sZ",
                        (long long)date.year, date.month, date.day, (long long)(second / 3600),
                        (long long)(second / 60 % 60), (long long)(second % 60), fraction);
  if ((size_t)length >= size)
    return TB_ERR_LIMIT;
  memcpy(buffer, text, (size_t)length + 1);
  return TB_OK;
}
