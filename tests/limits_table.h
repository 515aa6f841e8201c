/* What every call with a limit has in common (S5): an invalid limit is refused, TB_NO_WAIT looks
 * once, and TB_NO_LIMIT waits until an event ends the wait. */
#ifndef TB_TEST_LIMITS_TABLE_H
#define TB_TEST_LIMITS_TABLE_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <timebase/duration.h>
#include <unistd.h>

#include "test.h"

/* A call in a scene in which it has to wait. */
typedef struct limited {
  const char *name;
  tb_status_t (*call)(tb_duration_t limit);
  void (*arrange)(void); /* or NULL */
  void (*event)(void);   /* ends the wait */
  void (*clean)(void);   /* or NULL */
  tb_status_t looked;    /* what TB_NO_WAIT returns; 0: TB_ERR_TIMEOUT */
  tb_status_t ended;     /* what the wait returns */
} limited_t;

typedef struct limited_thread {
  const limited_t *row;
  _Atomic int id;
  _Atomic bool over;
  tb_status_t status;
} limited_thread_t;

static void *limited_run(void *argument)
{
  limited_thread_t *thread = argument;
  atomic_store(&thread->id, (int)syscall(SYS_gettid));
  thread->status = thread->row->call(TB_NO_LIMIT);
  atomic_store(&thread->over, true);
  return NULL;
}

static bool is_asleep(int thread_id)
{
  char path[64], text[256] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread_id);
  FILE *file = fopen(path, "r");
  if (!file) return false;
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  while (size > 0 && text[size - 1] != ')') /* the end of the thread's name */
    size--;
  return size > 0 && text[size] == ' ' && text[size + 1] == 'S';
}

static void limited_expect(const limited_t *row, const char *limit, tb_status_t status,
                           tb_status_t expected)
{
  if (status != expected)
    fail_msg("%s with %s: %s, expected %s", row->name, limit, tb_status_name(status),
             tb_status_name(expected));
}

static void limited_check(const limited_t *row)
{
  limited_thread_t waits = {.row = row};
  pthread_t thread;
  if (row->arrange) row->arrange();
  limited_expect(row, "-5 ns", row->call(TB_NS(-5)), TB_ERR_INVALID);
  limited_expect(row, "INT64_MIN + 1", row->call(TB_NS(INT64_MIN + 1)), TB_ERR_INVALID);
  limited_expect(row, "TB_NO_WAIT", row->call(TB_NO_WAIT),
                 row->looked ? row->looked : TB_ERR_TIMEOUT);
  pthread_create(&thread, NULL, limited_run, &waits);
  while (!atomic_load(&waits.over) && !is_asleep(atomic_load(&waits.id)))
    sched_yield();
  if (atomic_load(&waits.over))
    fail_msg("%s with TB_NO_LIMIT: %s before the event", row->name, tb_status_name(waits.status));
  row->event();
  pthread_join(thread, NULL);
  limited_expect(row, "TB_NO_LIMIT", waits.status, row->ended);
  if (row->clean) row->clean();
}

#endif
