/* What every case may use; each is one function. What does not compile here throws when it runs in
 * rclcpp test_time.cpp: operators. */
#include <stddef.h>
#include <timebase/arithmetic.h>
#include <timebase/generic.h>

#ifdef TB_WRONG
#define RIGHT_OR_WRONG(right, wrong) wrong
#else
#define RIGHT_OR_WRONG(right, wrong) right
#endif

typedef struct values {
  tb_duration_t duration;
  tb_time_t time;
  tb_steady_time_t steady;
  int order;
  tb_clock_t *clock;
  tb_steady_clock_t *steady_clock;
  tb_timer_queue_t *queue;
  tb_timer_t *timer;
  tb_timer_options_t options;
  tb_steady_timer_options_t steady_options;
  pthread_mutex_t *mutex;
  tb_cond_t *cond;
  tb_steady_cond_t *steady_cond;
  tb_rate_t *rate;
} values_t;

void use(values_t *v);
