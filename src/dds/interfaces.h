/* The network interfaces that a domain of Cyclone DDS uses. */
#ifndef TB_DDS_INTERFACES_H
#define TB_DDS_INTERFACES_H

#include <dds/dds.h>
#include <dds/ddsi/ddsi_sertype.h>
#include <stddef.h>

/* Their addresses, "192.168.0.7,127.0.0.1"; those that do not fit are left out; "": the endpoint is
 * gone. `endpoint`: of the domain; `type`: its own. */
void tb__dds_interfaces(dds_entity_t endpoint, const struct ddsi_sertype *type, char *out,
                        size_t size);

#endif
