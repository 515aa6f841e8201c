/* A check of a bag in progress; metadata.yaml beside what the files hold. */
#ifndef TB_BAG_CHECK_METADATA_H
#define TB_BAG_CHECK_METADATA_H

#include <stdbool.h>

#include <timebase/bag_check.h>
#include <timebase/bag_reader.h>
#include <timebase/error.h>

typedef struct tb__check {
  tb_bag_finding_fn report;
  void *user;
  tb_bag_check_result_t result;
  void *reported; /* tree of the findings, for tsearch */
  bool is_salvaging;
  int64_t last_ns;
  int64_t start_ns; /* of what could be read */
  int64_t end_ns;
  uint64_t *by_topic; /* messages that could be read */
  uint64_t *by_file;
} tb__check_t;

void tb__check_report(tb__check_t *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads all of the files, but for what metadata.yaml says of them: how much is wrong, besides those
 * that were not closed, and the first of it. Fails only if that could not be done. */
tb_status_t tb__check_files(tb_bag_reader_t *reader, uint64_t *out_count,
                            char out_first[TB_ERROR_TEXT_SIZE], tb_error_t *error) TB_WARN_UNUSED;

/* Fails only if the check could not be done. */
tb_status_t tb__check_metadata(tb__check_t *check, const tb_bag_reader_t *reader,
                               tb_error_t *error) TB_WARN_UNUSED;

#endif
