#include <timebase/status.h>

const char *tb_status_name(tb_status_t status)
{
  switch (status) {
#define STATUS_NAME(name, value, message)                                                          \
  case name:                                                                                       \
    return #name;
    TB_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
  }
  return "TB_ERR_UNKNOWN";
}

const char *tb_status_message(tb_status_t status)
{
  switch (status) {
#define STATUS_MESSAGE(name, value, message)                                                       \
  case name:                                                                                       \
    return message;
    TB_STATUS_LIST(STATUS_MESSAGE)
#undef STATUS_MESSAGE
  }
  return "unknown status";
}
