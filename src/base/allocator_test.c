/* The process's allocator: set once, before memory is taken; each process of these tests has its
 * own. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/allocator.h>
#include <unistd.h>

#include "base/allocator.h"
#include "base/memory.h"
#include "test.h"

typedef struct counts {
  int blocks, allocated, zeroed, moved;
  bool refuses;
} counts_t;

static void *on_allocate(size_t size, void *state)
{
  counts_t *counts = state;
  if (counts->refuses) return NULL;
  counts->blocks++;
  counts->allocated++;
  return malloc(size);
}

static void on_deallocate(void *memory, void *state)
{
  ((counts_t *)state)->blocks--;
  free(memory);
}

static void *on_reallocate(void *memory, size_t size, void *state)
{
  counts_t *counts = state;
  if (counts->refuses) return NULL;
  counts->moved++;
  return realloc(memory, size);
}

static void *on_zero_allocate(size_t count, size_t size, void *state)
{
  counts_t *counts = state;
  if (counts->refuses) return NULL;
  counts->blocks++;
  counts->zeroed++;
  return calloc(count, size);
}

static counts_t counts;
static const tb_allocator_t allocator = {on_allocate, on_deallocate, on_reallocate,
                                         on_zero_allocate, &counts};

/* Runs in a child, in which nothing has been decided; the parent never allocates by the library. */
static void in_child(void (*run)(void))
{
  pid_t child = fork();
  if (child == 0) {
    run();
    _exit(0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%d: %s\n", __LINE__, #condition);                                           \
      _exit(1);                                                                                    \
    }                                                                                              \
  } while (0)

static void use_all(void)
{
  CHECK(tb_allocator_set(&allocator) == TB_OK);
  CHECK(tb_allocator_set(&allocator) == TB_ERR_BUSY);
  char *text = tb__strdup("abc");
  CHECK(!strcmp(text, "abc") && counts.blocks == 1);
  text = tb__realloc(text, 100000);
  CHECK(!strcmp(text, "abc") && counts.moved == 1);
  text = tb__reallocarray(text, 2, 10);
  CHECK(!strcmp(text, "abc") && counts.moved == 2);
  tb__free(text);
  CHECK(counts.blocks == 0);
  char *zeros = tb__calloc(3, 5);
  CHECK(counts.zeroed == 1 && !zeros[0] && !zeros[14]);
  char *line = tb__aligned_alloc(64, 128), *huge = tb__memory_alloc((size_t)3 << 20);
  CHECK((uintptr_t)line % 64 == 0 && (uintptr_t)huge % ((size_t)2 << 20) == 0);
  memset(line, 1, 128);
  memset(huge, 1, (size_t)3 << 20);
  char *printed = NULL, *start = tb__strndup("abcdef", 2), *first = tb__realloc(NULL, 7);
  CHECK(tb__asprintf(&printed, "%d-%s", 7, start) == 4 && !strcmp(printed, "7-ab"));
  CHECK(((uintptr_t)first | (uintptr_t)printed) % _Alignof(max_align_t) == 0);
  CHECK(counts.blocks == 6 && counts.moved == 2);
  tb__free(zeros);
  tb__free(line);
  tb__free(huge);
  tb__free(printed);
  tb__free(start);
  tb__free(first);
  tb__free(NULL);
  CHECK(counts.blocks == 0);
}

static void be_refused(void)
{
  CHECK(tb_allocator_set(&allocator) == TB_OK);
  char *text = tb__strdup("abc"), *printed = text;
  counts.refuses = true;
  CHECK(!tb__malloc(1) && !tb__calloc(1, 1) && !tb__aligned_alloc(64, 64) && !tb__strdup("a"));
  CHECK(!tb__realloc(text, 10) && !strcmp(text, "abc"));
  CHECK(tb__asprintf(&printed, "%d", 7) == -1 && !printed);
  counts.refuses = false;
  volatile size_t most = SIZE_MAX; /* the compiler need not know */
  errno = 0;
  CHECK(!tb__malloc(most) && !tb__calloc(most, 2) && !tb__reallocarray(NULL, most, most));
  CHECK(errno == ENOMEM && !tb__realloc(text, most) && !tb__aligned_alloc(64, most - 63));
  tb__free(text);
  CHECK(counts.blocks == 0);
}

static void be_late(void)
{
  tb__free(tb__malloc(1));
  CHECK(tb_allocator_set(&allocator) == TB_ERR_BUSY);
  CHECK(counts.blocks == 0 && counts.allocated == 0);
}

static void leave_functions_out(void)
{
  for (int i = 0; i < 4; i++) {
    tb_allocator_t bad = allocator;
    if (i == 0) bad.allocate = NULL;
    if (i == 1) bad.deallocate = NULL;
    if (i == 2) bad.reallocate = NULL;
    if (i == 3) bad.zero_allocate = NULL;
    CHECK(tb_allocator_set(&bad) == TB_ERR_INVALID);
  }
  CHECK(tb_allocator_set(NULL) == TB_ERR_INVALID);
  CHECK(tb_allocator_set(&allocator) == TB_OK); /* nothing was decided */
}

static void test_all_memory_comes_from_the_program_s(void **state)
{
  (void)state;
  in_child(use_all);
}

static void test_what_it_refuses_is_no_memory(void **state)
{
  (void)state;
  in_child(be_refused);
}

static void test_it_is_set_before_memory_is_taken(void **state)
{
  (void)state;
  in_child(be_late);
}

static void test_it_needs_all_functions(void **state)
{
  (void)state;
  in_child(leave_functions_out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_memory_comes_from_the_program_s),
      cmocka_unit_test(test_what_it_refuses_is_no_memory),
      cmocka_unit_test(test_it_is_set_before_memory_is_taken),
      cmocka_unit_test(test_it_needs_all_functions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
