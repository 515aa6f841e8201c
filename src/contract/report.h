/* A report of a recording, or of a graph that was observed: one HTML file without other files and
 * without scripts. Findings come first, then /clock, time lines of topics, ages and intervals.
 * Memory and the size of the page are bounded, whatever is fed. Not for several threads. */
#ifndef TB_CONTRACT_REPORT_H
#define TB_CONTRACT_REPORT_H

#include <timebase/error.h>

#include "contract/finding.h"
#include "contract/markup.h"
#include "contract/stamps.h"
#include "contract/ticks.h"

#define TB__REPORT_TOPICS_MAX 1000
#define TB__REPORT_FACTS_MAX  100
#define TB__REPORT_JUMPS_MAX  1000
#define TB__REPORT_PAGE_MAX   2000000 /* bytes: no page is larger */

typedef struct tb__report tb__report_t;
typedef struct tb__report_topic tb__report_topic_t;

/* `title`: what was judged. `time_name`: what times are, in a sentence after "by": "log time",
 * "steady time at reception". Texts are copied, here and below, and may be of others. NULL: no
 * memory. */
TB_PRIVATE_API tb__report_t *tb__report_create(const char *title,
                                               const char *time_name) TB_WARN_UNUSED;
TB_PRIVATE_API void tb__report_destroy(tb__report_t *report); /* accepts NULL */

/* A line of what was judged: "Duration", "12 s". Beyond TB__REPORT_FACTS_MAX they are dropped. */
TB_PRIVATE_API void tb__report_fact(tb__report_t *report, const char *key, const char *value);

/* A topic with its type, which may be "". NULL: there are TB__REPORT_TOPICS_MAX already, or no
 * memory; the functions below take NULL and count the message. The report owns it. */
TB_PRIVATE_API tb__report_topic_t *tb__report_topic(tb__report_t *report, const char *name,
                                                    const char *type);

/* Statistics of the topic's stamps for its line of numbers; read by tb__report_html. Borrowed. Of
 * several streams the one with the most stamps is shown. */
TB_PRIVATE_API void tb__report_topic_stamps(tb__report_topic_t *topic, const tb__stamps_t *stamps);

/* A message at a time, in ns above 0. `age_ns`: ROS time then minus its stamp; NULL: it has none
 * that counts. Allocates at the first messages of a topic only. */
TB_PRIVATE_API void tb__report_message(tb__report_t *report, tb__report_topic_t *topic,
                                       int64_t time_ns, const int64_t *age_ns);

/* A tick of /clock and what it was (tb__ticks_feed), after tb__report_message of it. A jump becomes
 * a mark in all pictures. */
TB_PRIVATE_API void tb__report_tick(tb__report_t *report, int64_t time_ns, int64_t tick_ns,
                                    tb__tick_kind_t kind);

/* Why there is no factor and no rate of /clock, as a sentence: "Log times are simulated time." */
TB_PRIVATE_API void tb__report_no_factor(tb__report_t *report, const char *why);

/* Makes the page. `findings` are finished. The page is the same for the same input. It is
 * well-formed XML too. To be released by tb__markup_fini. TB_ERR_NO_MEMORY: now or earlier. */
TB_PRIVATE_API tb_status_t tb__report_html(tb__report_t *report, const tb__findings_t *findings,
                                           tb__markup_t *out) TB_WARN_UNUSED;

/* The same, to a file beside `path`, which is then renamed to it: on failure, what was there stays.
 *
 *   TB_ERR_NOT_FOUND  the folder is not there
 *   TB_ERR_SYSTEM, TB_ERR_NO_MEMORY */
TB_PRIVATE_API tb_status_t tb__report_write(tb__report_t *report, const tb__findings_t *findings,
                                            const char *path, tb_error_t *error) TB_WARN_UNUSED;

#endif
