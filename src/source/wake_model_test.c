/* That no wake-up is lost: all orders in which the steps of a reader, of a thread of its process
 * that begins to wait, and of a publisher can follow each other. A step is one access to what they
 * share. The model has the order of wake_area.h and, to show that it would find a mistake, others
 * too. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "test.h"

enum { TICKS = 3, NONE = 7 };

/* Which mistake is made. */
typedef enum mistake {
  RIGHT,
  WORD_AFTER_WISH, /* the reader reads its word when it has written its wish */
  PAGE_BEFORE_WISH,
  WISHES_BEFORE_PAGE, /* the publisher reads wishes before it publishes */
  NO_LOOK_AT_PAGE,    /* the thread that begins to wait does not read the page after its wish */
} mistake_t;

typedef struct model {
  int page, wish, word; /* shared */
  int waiters[2];       /* deadlines; NONE: not waiting */
  struct {
    int step, seen;
  } reader;
  struct {
    int step;
  } beginner; /* begins to wait for 1 */
  struct {
    int step, time, wish;
  } publisher;
} model_t;

static mistake_t mistake;
static int lost;
static unsigned states;

static int earliest(const model_t *m)
{
  return m->waiters[0] < m->waiters[1] ? m->waiters[0] : m->waiters[1];
}

static void wake_due(model_t *m, int page)
{
  for (int i = 0; i < 2; i++)
    if (m->waiters[i] <= page) m->waiters[i] = NONE;
}

/* Each returns false where the thread cannot go on. */
static bool reader_goes(model_t *m)
{
  static const int order[][4] = {
      [RIGHT] = {0, 1, 2, 3},
      [WORD_AFTER_WISH] = {1, 0, 2, 3},
      [PAGE_BEFORE_WISH] = {0, 2, 1, 3},
      [WISHES_BEFORE_PAGE] = {0, 1, 2, 3},
      [NO_LOOK_AT_PAGE] = {0, 1, 2, 3},
  };
  switch (order[mistake][m->reader.step]) {
  case 0:
    m->reader.seen = m->word;
    break;
  case 1:
    m->wish = earliest(m);
    break;
  case 2:
    wake_due(m, m->page);
    break;
  default:
    if (m->word == m->reader.seen) return false; /* it sleeps */
    m->reader.step = -1;
    break;
  }
  m->reader.step++;
  return true;
}

static bool beginner_goes(model_t *m)
{
  switch (m->beginner.step) {
  case 0: /* under the mutex: it is not due yet, else it does not wait */
    if (m->page < 1) m->waiters[1] = 1;
    break;
  case 1:
    if (m->waiters[1] == 1 && m->wish > 1) m->wish = 1;
    break;
  case 2:
    if (mistake != NO_LOOK_AT_PAGE && m->page >= 1) m->word++;
    break;
  default:
    return false;
  }
  m->beginner.step++;
  return true;
}

static bool publisher_goes(model_t *m)
{
  int time = m->publisher.time + 1;
  int publish = mistake == WISHES_BEFORE_PAGE ? 1 : 0;
  if (time > TICKS) return false;
  bool is_due = m->publisher.wish <= time;
  switch (m->publisher.step) {
  case 0:
  case 1:
    if (m->publisher.step == publish)
      m->page = time;
    else
      m->publisher.wish = m->wish;
    m->publisher.step++;
    return true;
  case 2: /* compare and exchange */
    if (is_due && m->wish != m->publisher.wish) {
      m->publisher.wish = m->wish;
      return true;
    }
    if (is_due) m->wish = NONE;
    m->publisher.step++;
    return true;
  default:
    if (is_due) m->word++;
    m->publisher.time++;
    m->publisher.step = 0;
    return true;
  }
}

#define STATE_BITS 28
static unsigned char seen_states[1 << (STATE_BITS - 3)];

static bool is_new(const model_t *m)
{
  const int fields[][2] = {{m->page, 2},           {m->wish, 3},          {m->word, 3},
                           {m->waiters[0], 3},     {m->waiters[1], 3},    {m->reader.step, 2},
                           {m->reader.seen, 3},    {m->beginner.step, 2}, {m->publisher.step, 2},
                           {m->publisher.time, 2}, {m->publisher.wish, 3}};
  uint32_t key = 0;
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    assert_true(fields[i][0] >= 0 && fields[i][0] < 1 << fields[i][1]);
    key = key << fields[i][1] | (uint32_t)fields[i][0];
  }
  unsigned char bit = (unsigned char)(1 << (key & 7));
  if (seen_states[key >> 3] & bit) return false;
  seen_states[key >> 3] |= bit;
  return true;
}

static void explore(model_t m)
{
  static bool (*const threads[])(model_t *) = {reader_goes, beginner_goes, publisher_goes};
  bool any = false;
  if (!is_new(&m)) return;
  states++;
  for (size_t i = 0; i < 3; i++) {
    model_t next = m;
    if (!threads[i](&next)) continue;
    any = true;
    explore(next);
  }
  if (!any && (m.waiters[0] <= m.page || m.waiters[1] <= m.page)) lost++;
}

static void run(mistake_t made, int first_deadline)
{
  model_t start = {.wish = NONE, .waiters = {first_deadline, NONE}};
  mistake = made;
  lost = 0;
  states = 0;
  memset(seen_states, 0, sizeof seen_states);
  explore(start);
}

static void test_X10_no_wake_up_is_lost_in_any_order(void **state)
{
  (void)state;
  for (int deadline = 1; deadline <= TICKS + 1; deadline++) {
    run(RIGHT, deadline);
    assert_true(states > 1000);
    assert_int_equal(lost, 0);
  }
}

static void expect_lost(mistake_t made)
{
  int found = 0;
  for (int deadline = 1; deadline <= TICKS + 1; deadline++) {
    run(made, deadline);
    found += lost;
  }
  if (!found) fail_msg("mistake %d is not found", (int)made);
}

static void test_the_model_finds_mistakes(void **state)
{
  (void)state;
  expect_lost(WORD_AFTER_WISH);
  expect_lost(PAGE_BEFORE_WISH);
  expect_lost(WISHES_BEFORE_PAGE);
  expect_lost(NO_LOOK_AT_PAGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_X10_no_wake_up_is_lost_in_any_order),
      cmocka_unit_test(test_the_model_finds_mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
