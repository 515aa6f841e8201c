/* What can be read of a damaged MCAP file: it is recovered into a file without a name, and that is
 * read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag/mcap_recover.h"
#include "bag/storage.h"
#include "bag/temporary.h"
#include "base/log.h"

typedef struct losses {
  char *first; /* NULL: none */
  bool failed; /* to keep it */
} losses_t;

static void on_loss(void *user, const tb__mcap_damage_t *loss)
{
  losses_t *losses = user;
  if (losses->first) return;
  losses->first = strdup(loss->text);
  losses->failed = !losses->first;
}

/* The messages only where indexes tell how many they were. */
static void tell_loss(const char *path, const tb__mcap_recovery_t *all)
{
  char messages[64] = "";
  if (all->lost_messages > 0)
    snprintf(messages, sizeof messages, " and at least %llu message%s",
             (unsigned long long)all->lost_messages, all->lost_messages == 1 ? "" : "s");
  tb__log(TB_LOG_WARN, "%s: %llu damage%s, %llu bytes%s are lost", path,
          (unsigned long long)all->damages, all->damages == 1 ? "" : "s",
          (unsigned long long)all->lost_bytes, messages);
}

tb_status_t tb__mcap_salvage_open(const tb__bag_storage_t *storage, const char *path,
                                  tb__bag_file_t **out, tb_error_t *error)
{
  const tb__bag_output_options_t options = {0};
  losses_t losses = {NULL, false};
  tb__temporary_t copy = {0};
  tb__mcap_recovery_t all;
  tb_status_t status = tb__temporary_make(path, "", &copy, error);
  if (!status) status = tb__mcap_recover(path, copy.path, &options, on_loss, &losses, &all, error);
  if (!status && losses.failed) status = tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  if (!status) status = tb__mcap_open_recovered(storage, copy.path, losses.first, out, error);
  tb__temporary_forget(&copy);
  if (!status && all.damages > 0) tell_loss(path, &all);
  free(losses.first);
  return status;
}
