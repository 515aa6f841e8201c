#include "dds/vendor.h"

#define MAJOR         1 /* of all that are registered */
#define MINOR_CYCLONE 0x10
#define NAME_COUNT    (sizeof names / sizeof names[0])

typedef struct vendor {
  const char *name;
  bool announces_history;
} vendor_t;

/* By the second byte. */
static const vendor_t names[] = {
    [0x01] = {"RTI Connext", false}, [0x02] = {"OpenSplice", true},
    [0x03] = {"OpenDDS", false},     [0x05] = {"InterCOM DDS", false},
    [0x06] = {"CoreDX DDS", false},  [0x0a] = {"Connext Micro", false},
    [0x0b] = {"Vortex Cafe", true},  [0x0d] = {"Vortex Lite", true},
    [0x0f] = {"Fast DDS", false},    [MINOR_CYCLONE] = {"Cyclone DDS", true},
    [0x11] = {"GurumDDS", false},    [0x12] = {"RustDDS", false},
};

static const vendor_t *find(const uint8_t guid[TB__GUID_SIZE])
{
  bool is_listed = guid[0] == MAJOR && guid[1] < NAME_COUNT && names[guid[1]].name;
  return is_listed ? &names[guid[1]] : NULL;
}

void tb__vendor_name(const uint8_t guid[TB__GUID_SIZE], char out[TB__VENDOR_NAME_SIZE])
{
  const vendor_t *vendor = find(guid);
  if (vendor)
    snprintf(out, TB__VENDOR_NAME_SIZE, "%s", vendor->name);
  else
    snprintf(out, TB__VENDOR_NAME_SIZE, "vendor %02x.%02x", guid[0], guid[1]);
}

bool tb__vendor_is_own(const uint8_t guid[TB__GUID_SIZE])
{
  return guid[0] == MAJOR && guid[1] == MINOR_CYCLONE;
}

void tb__vendor_mark_unknown(const uint8_t guid[TB__GUID_SIZE], tb_qos_t *qos)
{
  const vendor_t *vendor = find(guid);
  if (vendor && vendor->announces_history) return;
  if (qos->history != TB_QOS_KEEP_LAST || qos->depth != 1) return;
  qos->history = TB_QOS_HISTORY_UNKNOWN;
  qos->depth = 0;
}
