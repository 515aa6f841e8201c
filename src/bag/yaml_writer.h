/* YAML as text, written value by value. */
#ifndef TB_BAG_YAML_WRITER_H
#define TB_BAG_YAML_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>

typedef struct tb__yaml_writer tb__yaml_writer_t;

/* The first failure is kept and returned by tb__yaml_writer_finish; calls after it do nothing. In a
 * mapping keys and values are put in turns. */
tb_status_t tb__yaml_writer_create(tb__yaml_writer_t **out, tb_error_t *error) TB_WARN_UNUSED;
void tb__yaml_open_map(tb__yaml_writer_t *writer);
void tb__yaml_close_map(tb__yaml_writer_t *writer);
void tb__yaml_open_list(tb__yaml_writer_t *writer);
void tb__yaml_close_list(tb__yaml_writer_t *writer);
void tb__yaml_put_text(tb__yaml_writer_t *writer, const char *text);
void tb__yaml_put_null(tb__yaml_writer_t *writer);
void tb__yaml_put_int(tb__yaml_writer_t *writer, int64_t value);
void tb__yaml_put_uint(tb__yaml_writer_t *writer, uint64_t value);
void tb__yaml_put_bool(tb__yaml_writer_t *writer, bool value);

/* Key and value. */
void tb__yaml_pair(tb__yaml_writer_t *writer, const char *key, const char *text);
void tb__yaml_pair_int(tb__yaml_writer_t *writer, const char *key, int64_t value);
void tb__yaml_pair_uint(tb__yaml_writer_t *writer, const char *key, uint64_t value);

/* Frees the writer. *out is the text, to be freed; TB_ERR_INVALID if a text was not UTF-8. */
tb_status_t tb__yaml_writer_finish(tb__yaml_writer_t *writer, char **out,
                                   tb_error_t *error) TB_WARN_UNUSED;

#endif
