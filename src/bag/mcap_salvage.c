/* What can be read of a damaged MCAP file: it is recovered into a file without a name, and that is
 * read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag/mcap_recover.h"
#include "bag/storage.h"
#include "bag/temporary.h"

static void on_loss(void *user, const tb__mcap_damage_t *loss)
{
  char **first = user;
  if (!*first) *first = strdup(loss->text);
}

/* The messages only where indexes tell how many they were. */
static char *count_losses(const tb__mcap_recovery_t *all)
{
  char messages[64] = "", *text = NULL;
  if (all->lost_messages > 0)
    snprintf(messages, sizeof messages, " and at least %llu message%s",
             (unsigned long long)all->lost_messages, all->lost_messages == 1 ? "" : "s");
  int length =
      asprintf(&text, "%llu damage%s, %llu bytes%s are lost", (unsigned long long)all->damages,
               all->damages == 1 ? "" : "s", (unsigned long long)all->lost_bytes, messages);
  return length < 0 ? NULL : text;
}

/* *first is taken over. */
static tb_status_t describe(const tb__mcap_recovery_t *all, char **first, tb__mcap_losses_t *out,
                            tb_error_t *error)
{
  out->is_unclosed = all->is_unclosed;
  if (all->damages == 0 || all->is_unclosed) return TB_OK;
  out->first = *first;
  *first = NULL;
  out->in_all = count_losses(all);
  if (out->first && out->in_all) return TB_OK;
  return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
}

tb_status_t tb__mcap_salvage_open(const tb__bag_storage_t *storage, const char *path,
                                  const char *name, const tb_bag_limits_t *limits,
                                  tb__bag_file_t **out, tb_error_t *error)
{
  const tb__bag_output_options_t options = {0};
  char *first = NULL;
  tb__mcap_losses_t losses = {0};
  tb__temporary_t copy = {0};
  tb__mcap_recovery_t all;
  tb_status_t status = tb__temporary_make(path, "", &copy, error);
  if (!status)
    status = tb__mcap_recover_within(limits, path, name, copy.path, &options, on_loss, &first, &all,
                                     error);
  if (!status) status = describe(&all, &first, &losses, error);
  if (!status)
    status = tb__mcap_open_recovered(storage, copy.path, name, limits, &losses, out, error);
  tb__temporary_forget(&copy);
  free(first);
  if (!status) return TB_OK;
  free(losses.first);
  free(losses.in_all);
  return status;
}
