#include "system_sync.h"

#include <sys/timex.h>
#include <timebase/duration.h>

system_sync_t system_sync_read(void)
{
  struct timex kernel = {0};
  int state = adjtimex(&kernel);
  return (system_sync_t){
      .is_synchronized = state >= 0 && state != TIME_ERROR && !(kernel.status & STA_UNSYNC),
      .max_error_ns = state < 0 ? -1 : (int64_t)kernel.maxerror * TB_NS_PER_US,
  };
}
