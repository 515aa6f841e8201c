#include "platform/system_sync.h"

#include <sys/timex.h>

tb__system_sync_t tb__system_sync_read(void)
{
  struct timex kernel = {0};
  int state = adjtimex(&kernel);
  return (tb__system_sync_t){
      .is_synchronized = state >= 0 && state != TIME_ERROR && !(kernel.status & STA_UNSYNC),
      .max_error_ns = state < 0 ? -1 : (int64_t)kernel.maxerror * 1000,
  };
}
