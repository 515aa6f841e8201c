/* Writing an MCAP file: chunks with their indexes, and a summary at the end. A write that fails
 * leaves the file as it was before. */
#ifndef TB_MCAP_FILE_WRITER_H
#define TB_MCAP_FILE_WRITER_H

#include "mcap/record.h"
#include "storage/input.h"
#include "storage/output.h"

typedef struct tb__mcap_writer tb__mcap_writer_t;

/* TB_ERR_BUSY: the file exists. */
tb_status_t tb__mcap_writer_create(const char *path, const tb__bag_output_options_t *options,
                                   tb__mcap_writer_t **out, tb_error_t *error) TB_WARN_UNUSED;

/* The content of a schema or channel record with an id of its own. It is written before the first
 * message that needs it, and again from time to time, so that damage does not make later messages
 * unreadable. */
tb_status_t tb__mcap_writer_define(tb__mcap_writer_t *writer, uint8_t opcode, const void *content,
                                   size_t size, tb_error_t *error) TB_WARN_UNUSED;
/* Of a channel that was defined. On failure it is not in the file, now or later. */
tb_status_t tb__mcap_writer_message(tb__mcap_writer_t *writer, const tb__mcap_message_t *message,
                                    tb_error_t *error) TB_WARN_UNUSED;
/* Outside of the chunks; ends the open one. */
tb_status_t tb__mcap_writer_metadata(tb__mcap_writer_t *writer, const void *content, size_t size,
                                     tb_error_t *error) TB_WARN_UNUSED;
/* The record at `offset` of `from`. */
tb_status_t tb__mcap_writer_attachment(tb__mcap_writer_t *writer, const tb__bag_input_t *from,
                                       uint64_t offset, const tb__mcap_attachment_t *attachment,
                                       tb_error_t *error) TB_WARN_UNUSED;

/* The writer of an output of this format. */
tb__mcap_writer_t *tb__mcap_output_writer(tb__bag_output_t *output);

/* Ends the chunk. */
tb_status_t tb__mcap_writer_flush(tb__mcap_writer_t *writer, bool sync,
                                  tb_error_t *error) TB_WARN_UNUSED;
uint64_t tb__mcap_writer_size(const tb__mcap_writer_t *writer);
/* TB_ERR_TRUNCATED: another process has cut the file. */
tb_status_t tb__mcap_writer_check(const tb__mcap_writer_t *writer,
                                  tb_error_t *error) TB_WARN_UNUSED;
/* Frees on failure too. */
tb_status_t tb__mcap_writer_close(tb__mcap_writer_t *writer, tb_error_t *error) TB_WARN_UNUSED;

#endif
