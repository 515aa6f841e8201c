/* What can be read of a damaged MCAP file: it is recovered into a file without a name, and that is
 * read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/no_memory.h"
#include "mcap/header.h"
#include "mcap/mcap_format.h"
#include "mcap/recover.h"
#include "storage/storage.h"
#include "storage/temporary.h"

#define MAX_REPORTED 100 /* of one file, each by itself */

typedef struct losses {
  char *first;
  unsigned count;
} losses_t;

/* Each is named; a file that was not closed loses nothing, and its user reports it. */
static void on_loss(void *user, const tb__mcap_damage_t *loss)
{
  losses_t *seen = user;
  bool is_doubtful = loss->harm == TB__MCAP_DOUBTFUL;
  if (loss->harm == TB__MCAP_HARMLESS) return;
  if (!seen->first) seen->first = strdup(loss->text);
  if (tb__mcap_is_unclosed(loss->status, loss->size) || ++seen->count > MAX_REPORTED) return;
  tb__log(TB_LOG_WARN, "%s%s", loss->text,
          is_doubtful ? ": its messages are kept, and may be wrong" : "");
}

/* Messages are counted only where indexes do. */
static char *count_losses(const tb__mcap_recovery_t *all)
{
  char messages[64] = "", doubtful[64] = "", *text = NULL;
  if (all->lost_messages > 0)
    snprintf(messages, sizeof messages, " and at least %llu message%s",
             (unsigned long long)all->lost_messages, all->lost_messages == 1 ? "" : "s");
  if (all->doubtful_messages > 0)
    snprintf(doubtful, sizeof doubtful, "; %llu doubtful message%s kept",
             (unsigned long long)all->doubtful_messages,
             all->doubtful_messages == 1 ? " is" : "s are");
  int length = asprintf(&text, "%llu damaged part%s, %llu bytes%s are lost%s",
                        (unsigned long long)all->damages, all->damages == 1 ? "" : "s",
                        (unsigned long long)all->lost_bytes, messages, doubtful);
  return length < 0 ? NULL : text;
}

/* *first is taken over. */
static tb_status_t describe(const tb__mcap_recovery_t *all, char **first, tb__mcap_losses_t *out,
                            tb_error_t *error)
{
  out->is_unclosed = all->is_unclosed;
  out->chunk_format = tb__mcap_compression_name(all->compression);
  if (all->damages == 0 || all->is_unclosed) return TB_OK;
  out->first = *first;
  *first = NULL;
  out->in_all = count_losses(all);
  if (out->first && out->in_all) return TB_OK;
  return tb__no_memory(error);
}

/* The copy names us. */
static tb_status_t find_library(const char *path, const char *name, char **out, tb_error_t *error)
{
  tb__bag_input_t input;
  tb_status_t status = tb__bag_input_open(path, name, &input, error);
  if (!status) status = tb__mcap_header_library(&input, out, error);
  tb__bag_input_close(&input);
  return status;
}

tb_status_t tb__mcap_salvage_open(const tb__bag_storage_t *storage, const char *path,
                                  const char *name, const tb_bag_limits_t *limits,
                                  tb__bag_file_t **out, tb_error_t *error)
{
  const tb__bag_output_options_t options = {0};
  losses_t seen = {0};
  tb__mcap_losses_t losses = {0};
  tb__temporary_t copy = {0};
  tb__mcap_recovery_t all;
  char *library = NULL;
  tb_status_t status = tb__temporary_make(path, "", &copy, error);
  if (!status)
    status = tb__mcap_recover_within(limits, path, name, copy.path, &options, on_loss, &seen, &all,
                                     error);
  if (!status) status = describe(&all, &seen.first, &losses, error);
  if (!status) status = find_library(path, name, &library, error);
  if (!status)
    status =
        tb__mcap_open_recovered(storage, copy.path, name, limits, &losses, library, out, error);
  tb__temporary_forget(&copy);
  free(seen.first);
  if (!status) return TB_OK;
  free(losses.first);
  free(losses.in_all);
  free(library);
  return status;
}
