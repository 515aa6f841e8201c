#include "manifest_compare.h"

#include "audit.h"
#include "json.h"
#include "text.h"

/* Of the declared, all but the difference is a note. */
static void print_items(const audit_declared_t *declared, bool are_differences)
{
  for (size_t i = 0; i < declared->count; i++) {
    const audit_item_t *item = &declared->items[i];
    if ((item->kind == AUDIT_ITEM_DIFFERS) != are_differences) continue;
    text_out("%s: %s %s: ", are_differences ? "differs" : "note", item->what, item->name);
    text_out("%s\n", item->text);
  }
}

static void put_items(const audit_t *audit, json_t *root)
{
  json_t *notes = audit_declared_json(audit, AUDIT_ITEM_DECLARED);
  json_t *others = audit_declared_json(audit, AUDIT_ITEM_NOTE);
  json_array_extend(notes, others);
  json_decref(others);
  json_put(root, "differences", audit_declared_json(audit, AUDIT_ITEM_DIFFERS));
  json_put(root, "notes", notes);
}

int manifest_compare(const command_t *command, const graph_options_t *options,
                     const tb__manifest_t *manifest, json_t *root)
{
  static audit_t audit; /* large */
  int result = audit_open(command, options, manifest, &audit);
  if (!result) result = audit_look(&audit, options->wait, (tb_duration_t){0});
  if (!result && root) put_items(&audit, root);
  if (!result && !root) {
    print_items(&audit.declared, true);
    print_items(&audit.declared, false);
  }
  if (!result && audit.declared.counts[AUDIT_ITEM_DIFFERS]) result = EXIT_CHECK;
  audit_close(&audit);
  return result;
}
