#include "ros1/xmlrpc_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_bytes(tb__xmlrpc_writer_t *writer, const char *bytes, size_t size)
{
  if (writer->failed) return;
  if (writer->room - writer->size < size) {
    size_t room = 2 * writer->room + size + 256;
    char *larger = realloc(writer->text, room);
    if (!larger) {
      writer->failed = true;
      return;
    }
    writer->text = larger;
    writer->room = room;
  }
  memcpy(writer->text + writer->size, bytes, size);
  writer->size += size;
}

static void put(tb__xmlrpc_writer_t *writer, const char *text)
{
  put_bytes(writer, text, strlen(text));
}

/* Controls, which XML has no way to write, become question marks. */
static void put_escaped(tb__xmlrpc_writer_t *writer, const char *text)
{
  for (; *text; text++) {
    if (*text == '<')
      put(writer, "&lt;");
    else if (*text == '>')
      put(writer, "&gt;");
    else if (*text == '&')
      put(writer, "&amp;");
    else if ((unsigned char)*text < 0x20 && *text != '\t' && *text != '\n')
      put(writer, "?");
    else
      put_bytes(writer, text, 1);
  }
}

static void begin_value(tb__xmlrpc_writer_t *writer)
{
  put(writer, writer->depth == 0 ? "<param><value>" : "<value>");
}

static void end_value(tb__xmlrpc_writer_t *writer)
{
  put(writer, writer->depth == 0 ? "</value></param>\n" : "</value>");
}

void tb__xmlrpc_begin_call(tb__xmlrpc_writer_t *writer, const char *method)
{
  *writer = (tb__xmlrpc_writer_t){.is_call = true};
  put(writer, "<?xml version=\"1.0\"?>\n<methodCall><methodName>");
  put_escaped(writer, method);
  put(writer, "</methodName>\n<params>\n");
}

void tb__xmlrpc_begin_response(tb__xmlrpc_writer_t *writer)
{
  *writer = (tb__xmlrpc_writer_t){.is_call = false};
  put(writer, "<?xml version=\"1.0\"?>\n<methodResponse><params>\n");
}

void tb__xmlrpc_put_string(tb__xmlrpc_writer_t *writer, const char *text)
{
  begin_value(writer);
  put(writer, "<string>");
  put_escaped(writer, text);
  put(writer, "</string>");
  end_value(writer);
}

void tb__xmlrpc_put_int(tb__xmlrpc_writer_t *writer, int32_t value)
{
  char text[48];
  snprintf(text, sizeof text, "<int>%ld</int>", (long)value);
  begin_value(writer);
  put(writer, text);
  end_value(writer);
}

/* Whatever the program's locale has for a point. */
void tb__xmlrpc_put_double(tb__xmlrpc_writer_t *writer, double value)
{
  char text[64];
  snprintf(text, sizeof text, "%.17g", value);
  for (char *at = text; *at; at++)
    if (!strchr("0123456789+-e", *at)) *at = '.';
  begin_value(writer);
  put(writer, "<double>");
  put(writer, text);
  put(writer, "</double>");
  end_value(writer);
}

void tb__xmlrpc_put_boolean(tb__xmlrpc_writer_t *writer, bool value)
{
  begin_value(writer);
  put(writer, value ? "<boolean>1</boolean>" : "<boolean>0</boolean>");
  end_value(writer);
}

void tb__xmlrpc_begin_array(tb__xmlrpc_writer_t *writer)
{
  begin_value(writer);
  put(writer, "<array><data>");
  writer->depth++;
}

void tb__xmlrpc_end_array(tb__xmlrpc_writer_t *writer)
{
  writer->depth--;
  put(writer, "</data></array>");
  end_value(writer);
}

void tb__xmlrpc_begin_struct(tb__xmlrpc_writer_t *writer)
{
  begin_value(writer);
  put(writer, "<struct>");
  writer->depth++;
}

void tb__xmlrpc_end_struct(tb__xmlrpc_writer_t *writer)
{
  writer->depth--;
  put(writer, "</struct>");
  end_value(writer);
}

void tb__xmlrpc_begin_member(tb__xmlrpc_writer_t *writer, const char *name)
{
  put(writer, "<member><name>");
  put_escaped(writer, name);
  put(writer, "</name>");
}

void tb__xmlrpc_end_member(tb__xmlrpc_writer_t *writer)
{
  put(writer, "</member>");
}

bool tb__xmlrpc_end(tb__xmlrpc_writer_t *writer)
{
  put(writer, writer->is_call ? "</params></methodCall>\n" : "</params></methodResponse>\n");
  return !writer->failed;
}

bool tb__xmlrpc_write_fault(tb__xmlrpc_writer_t *writer, int32_t code, const char *text)
{
  char number[48];
  *writer = (tb__xmlrpc_writer_t){.is_call = false};
  snprintf(number, sizeof number, "<int>%ld</int>", (long)code);
  put(writer, "<?xml version=\"1.0\"?>\n<methodResponse><fault><value><struct>"
              "<member><name>faultCode</name><value>");
  put(writer, number);
  put(writer, "</value></member><member><name>faultString</name><value><string>");
  put_escaped(writer, text);
  put(writer, "</string></value></member></struct></value></fault></methodResponse>\n");
  return !writer->failed;
}

void tb__xmlrpc_writer_fini(tb__xmlrpc_writer_t *writer)
{
  free(writer->text);
  *writer = (tb__xmlrpc_writer_t){0};
}
