/* The implementation of DDS that a participant runs on, by the first two bytes of its GUID, and
 * what it leaves out of its announcements. Pure. */
#ifndef TB_DDS_VENDOR_H
#define TB_DDS_VENDOR_H

#include <timebase/qos.h>

#include "dds/guid.h"

#define TB__VENDOR_NAME_SIZE 32

/* "Cyclone DDS", "Fast DDS"; "vendor 01.2a" for one that is not known by name. */
void tb__vendor_name(const uint8_t guid[TB__GUID_SIZE], char out[TB__VENDOR_NAME_SIZE]);

/* Whether it is the one that this library is built on. */
bool tb__vendor_is_own(const uint8_t guid[TB__GUID_SIZE]);

/* History and depth are not part of what DDS announces of an endpoint. Cyclone DDS announces them
 * all the same, and takes its default for those of others: such a default becomes unknown here. */
void tb__vendor_mark_unknown(const uint8_t guid[TB__GUID_SIZE], tb_qos_t *qos);

#endif
