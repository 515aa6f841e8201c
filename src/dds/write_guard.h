/* A writer that writes nothing while a reader of Fast DDS would take it. One that is apart
 * (tb__inner_is_apart) does not count.
 *
 * Whoever looks for such readers and then writes may write to one that was matched in between. So
 * the look is where Cyclone DDS puts a sample into the writer's history, under the writer's lock,
 * which a match needs too: what is refused there is not sent. */
#ifndef TB_DDS_WRITE_GUARD_H
#define TB_DDS_WRITE_GUARD_H

#include <dds/dds.h>
#include <stdbool.h>
#include <timebase/error.h>

struct ddsi_sertype;

/* For a writer that has written nothing yet and is reliable, until it is deleted; the library must
 * stay loaded (stay_loaded.h). TB_ERR_NO_MEMORY, TB_ERR_CLOSED. */
TB_WARN_UNUSED tb_status_t tb__write_guard_set(dds_entity_t writer,
                                               const struct ddsi_sertype *type);

/* After a failed write: whether the guard has refused it. The next call returns false. */
bool tb__write_guard_has_refused(void);

#endif
