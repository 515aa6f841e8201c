/* The header of an MCAP file. */
#ifndef TB_MCAP_HEADER_H
#define TB_MCAP_HEADER_H

#include "storage/input.h"

/* The name of the library that wrote the file, as text, to be freed; "": none, or the header is
 * damaged, which those report that read messages. */
tb_status_t tb__mcap_header_library(const tb__bag_input_t *input, char **out,
                                    tb_error_t *error) TB_WARN_UNUSED;

#endif
