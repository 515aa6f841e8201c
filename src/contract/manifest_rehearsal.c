#include "contract/manifest_rehearsal.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void read_safety(tb__fields_reader_t *reader, const tb__yaml_node_t *node, void *out)
{
  static const tb__field_t fields[] = {
      {"topic", tb__field_name, offsetof(tb__manifest_safety_t, topic)},
      {"field", tb__field_text, offsetof(tb__manifest_safety_t, field)},
      {"trips", tb__field_text, offsetof(tb__manifest_safety_t, trips)},
      {"within", tb__field_duration, offsetof(tb__manifest_safety_t, within_ns)},
  };
  tb__manifest_safety_t *safety = out;
  size_t errors = reader->problems->error_count;
  tb__fields_read(reader, node, fields, COUNT(fields), safety);
  if (errors != reader->problems->error_count) return;
  if (!safety->topic || !safety->field || !safety->trips || !safety->within_ns)
    tb__fields_key_error(reader, node, "%s is missing; safety has topic, field, trips and within",
                         !safety->topic   ? "topic"
                         : !safety->field ? "field"
                         : !safety->trips ? "trips"
                                          : "within");
}

void tb__manifest_read_rehearsal(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                                 void *out)
{
  static const tb__field_t fields[] = {
      {"inputs", tb__field_names, offsetof(tb__manifest_rehearsal_t, inputs)},
      {"outputs", tb__field_names, offsetof(tb__manifest_rehearsal_t, outputs)},
      {"quiet", tb__field_duration, offsetof(tb__manifest_rehearsal_t, quiet_ns)},
      {"run", tb__field_duration, offsetof(tb__manifest_rehearsal_t, run_ns)},
      {"resume", tb__field_duration, offsetof(tb__manifest_rehearsal_t, resume_ns)},
      {"withhold", tb__field_names, offsetof(tb__manifest_rehearsal_t, withhold)},
      {"safety", read_safety, offsetof(tb__manifest_rehearsal_t, safety)},
  };
  tb__manifest_rehearsal_t *rehearsal = out;
  rehearsal->is_declared = true;
  tb__fields_read(reader, node, fields, COUNT(fields), rehearsal);
}
