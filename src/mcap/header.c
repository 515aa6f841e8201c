#include "mcap/header.h"

#include "base/no_memory.h"
#include "mcap/record.h"
#include "storage/clean.h"

#define MAX_SIZE 1024 /* of what is read; no library has a longer name */

tb_status_t tb__mcap_header_library(const tb__bag_input_t *input, char **out, tb_error_t *error)
{
  uint8_t bytes[MAX_SIZE];
  size_t size = input->size < sizeof bytes ? (size_t)input->size : sizeof bytes;
  tb__mcap_text_t library = {"", 0};
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__bag_input_read(input, 0, bytes, size, &detail);
  if (status && status != TB_ERR_TRUNCATED) {
    if (error) *error = detail;
    return status;
  }
  if (!status) {
    tb__mcap_cursor_t cursor = tb__mcap_cursor(bytes, size);
    tb__mcap_take(&cursor, TB__MCAP_MAGIC_SIZE);
    const uint8_t *opcode = tb__mcap_take(&cursor, 1);
    tb__mcap_take_u64(&cursor);
    tb__mcap_take_text(&cursor); /* the profile */
    tb__mcap_text_t found = tb__mcap_take_text(&cursor);
    if (!cursor.failed && *opcode == TB__MCAP_HEADER) library = found;
  }
  *out = tb__bag_clean(library.at, library.size, NULL);
  return *out ? TB_OK : tb__no_memory(error);
}
