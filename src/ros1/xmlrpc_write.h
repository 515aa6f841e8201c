/* Writes XML-RPC messages into a buffer that grows. A failure is kept until the end. */
#ifndef TB_ROS1_XMLRPC_WRITE_H
#define TB_ROS1_XMLRPC_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tb__xmlrpc_writer {
  char *text; /* not terminated */
  size_t size, room;
  int depth; /* arrays and structs that are open */
  bool is_call, failed;
} tb__xmlrpc_writer_t;

void tb__xmlrpc_begin_call(tb__xmlrpc_writer_t *writer, const char *method);
void tb__xmlrpc_begin_response(tb__xmlrpc_writer_t *writer);
/* What can be added to both: of a call each is a parameter, a response has one. */
void tb__xmlrpc_put_string(tb__xmlrpc_writer_t *writer, const char *text);
void tb__xmlrpc_put_int(tb__xmlrpc_writer_t *writer, int32_t value);
void tb__xmlrpc_put_double(tb__xmlrpc_writer_t *writer, double value); /* finite */
void tb__xmlrpc_put_boolean(tb__xmlrpc_writer_t *writer, bool value);
void tb__xmlrpc_begin_array(tb__xmlrpc_writer_t *writer);
void tb__xmlrpc_end_array(tb__xmlrpc_writer_t *writer);
/* Of a struct each value is between the two of a member. */
void tb__xmlrpc_begin_struct(tb__xmlrpc_writer_t *writer);
void tb__xmlrpc_end_struct(tb__xmlrpc_writer_t *writer);
void tb__xmlrpc_begin_member(tb__xmlrpc_writer_t *writer, const char *name);
void tb__xmlrpc_end_member(tb__xmlrpc_writer_t *writer);
/* False: out of memory. */
bool tb__xmlrpc_end(tb__xmlrpc_writer_t *writer);

/* A whole message; false as above. */
bool tb__xmlrpc_write_fault(tb__xmlrpc_writer_t *writer, int32_t code, const char *text);

/* Frees the buffer; the writer can be used again. */
void tb__xmlrpc_writer_fini(tb__xmlrpc_writer_t *writer);

#endif
