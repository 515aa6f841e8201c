/* What an expression of rosbag2 may consist of. Pure except for the memory that it works in. */
#ifndef TB_BAG_EXPRESSION_SYNTAX_H
#define TB_BAG_EXPRESSION_SYNTAX_H

#include <timebase/error.h>

/* Refuses what PCRE2 would understand in another way than ECMAScript, and rewrites in place what
 * PCRE2 spells in another way; offsets stay as they are. TB_ERR_INVALID: the error has the offset
 * and a text without the expression. */
tb_status_t tb__expression_syntax(char *text, tb_error_t *error) TB_WARN_UNUSED;

#endif
