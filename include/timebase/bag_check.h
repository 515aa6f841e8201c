/* Whether a recording is whole. */
#ifndef TIMEBASE_BAG_CHECK_H
#define TIMEBASE_BAG_CHECK_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/bag_reader.h>
#include <timebase/error.h>
#include <timebase/export.h>

/** One thing that is wrong, as one line of English with the file in it; valid during the call. May
 * not use the bag's files. */
typedef void (*tb_bag_finding_fn)(const char *text, void *user);

/** What a check has seen. */
typedef struct tb_bag_check_result {
  uint64_t message_count;  /**< messages that could be read */
  uint64_t finding_count;  /**< how often the callback was called; 0: the bag is whole */
  uint64_t unclosed_count; /**< of those, how often the text was only that the recording was not
                              closed; if this equals finding_count, everything in it can be read */
} tb_bag_check_result_t;

TB_BEGIN_DECLS

/** Reads all of a bag, every byte of every message, and reports what is wrong: in the files
 * (unreadable parts, checksums, tables that contradict each other), in the order of time, and in
 * metadata.yaml compared with the files. `report` is called on this thread and may be NULL. Reads
 * at least once through every file, some parts more often.
 *
 * [any thread] [blocks: file system] TB_OK also for a damaged bag; TB_ERR_NOT_FOUND if there is
 * nothing at `path`, or a folder without files of a recording; TB_ERR_UNSUPPORTED for another
 * format; TB_ERR_SYSTEM, TB_ERR_BUSY and TB_ERR_NO_MEMORY if it could not look at all of it, which
 * does not mean that the bag is damaged. Findings reported before the failure stay valid. */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_bag_check(const char *path, tb_bag_finding_fn report,
                                                  void *user, tb_bag_check_result_t *out,
                                                  tb_error_t *error);

/** The same with limits other than the defaults; NULL: the defaults. Exceeding one is no finding:
 * TB_ERR_LIMIT. [any thread] [blocks: file system] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_bag_check_within(const char *path,
                                                         const tb_bag_limits_t *limits,
                                                         tb_bag_finding_fn report, void *user,
                                                         tb_bag_check_result_t *out,
                                                         tb_error_t *error);

/** Looks at the names of the files of a bag. TB_ERR_RANGE: `path` is a folder without
 * metadata.yaml, and its files, which are read as one bag, differ by more than a number at the end
 * of their names, so that they may be several; *error names them. Other errors as in
 * tb_bag_reader_open. [any thread] [blocks: file system] */
TB_API TB_WARN_UNUSED tb_status_t tb_bag_check_names(const char *path, tb_error_t *error);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API TB_WARN_UNUSED tb_status_t tb_bag_check_sized(const char *path, tb_bag_finding_fn report,
                                                     void *user, tb_bag_check_result_t *out,
                                                     size_t out_size, tb_error_t *error);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_bag_check(const char *path, tb_bag_finding_fn report,
                                                  void *user, tb_bag_check_result_t *out,
                                                  tb_error_t *error)
{
  return tb_bag_check_sized(path, report, user, out, sizeof *out, error);
}
TB_API tb_status_t tb_bag_check_within_sized(const char *path, const tb_bag_limits_t *limits,
                                             size_t limits_size, tb_bag_finding_fn report,
                                             void *user, tb_bag_check_result_t *out,
                                             size_t out_size, tb_error_t *error);
TB_INLINE TB_WARN_UNUSED tb_status_t tb_bag_check_within(const char *path,
                                                         const tb_bag_limits_t *limits,
                                                         tb_bag_finding_fn report, void *user,
                                                         tb_bag_check_result_t *out,
                                                         tb_error_t *error)
{
  return tb_bag_check_within_sized(path, limits, sizeof *limits, report, user, out, sizeof *out,
                                   error);
}

TB_END_DECLS

#endif
