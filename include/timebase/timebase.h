/* All of the core library: values, clocks, jumps, sleeps, conditions, rates, timers and sources. */
#ifndef TIMEBASE_TIMEBASE_H
#define TIMEBASE_TIMEBASE_H

#include <timebase/allocator.h>
#include <timebase/arithmetic.h>
#include <timebase/cancel_token.h>
#include <timebase/clock.h>
#include <timebase/clock_server.h>
#include <timebase/condition.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/extrapolating_source.h>
#include <timebase/generic.h>
#include <timebase/histogram.h>
#include <timebase/jump.h>
#include <timebase/log.h>
#include <timebase/manual_source.h>
#include <timebase/publish_guard.h>
#include <timebase/rate.h>
#include <timebase/ready.h>
#include <timebase/reset.h>
#include <timebase/shm_publisher.h>
#include <timebase/shm_readers.h>
#include <timebase/shm_source.h>
#include <timebase/sleep.h>
#include <timebase/source.h>
#include <timebase/stamper.h>
#include <timebase/statistics.h>
#include <timebase/status.h>
#include <timebase/steady_clock.h>
#include <timebase/steady_time.h>
#include <timebase/text.h>
#include <timebase/time.h>
#include <timebase/timeline.h>
#include <timebase/timer.h>
#include <timebase/watchdog.h>

#endif
