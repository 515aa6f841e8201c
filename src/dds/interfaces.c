#include "dds/interfaces.h"

#include <arpa/inet.h>
#include <dds/ddsi/ddsi_domaingv.h>
#include <dds/ddsi/q_rtps.h>
#include <stdio.h>
#include <string.h>

#include "dds/inner_writer.h"

static const char *address_text(const ddsi_locator_t *locator, char out[INET6_ADDRSTRLEN])
{
  bool is_v4 = locator->kind == NN_LOCATOR_KIND_UDPv4 || locator->kind == NN_LOCATOR_KIND_TCPv4;
  const void *address = is_v4 ? locator->address + 12 : locator->address;
  return inet_ntop(is_v4 ? AF_INET : AF_INET6, address, out, INET6_ADDRSTRLEN);
}

void tb__dds_interfaces(dds_entity_t endpoint, const struct ddsi_sertype *type, char *out,
                        size_t size)
{
  const struct ddsi_domaingv *domain = tb__inner_domain(endpoint, type);
  size_t used = 0;
  out[0] = '\0';
  for (int i = 0; domain && i < domain->n_interfaces; i++) {
    char text[INET6_ADDRSTRLEN];
    if (!address_text(&domain->interfaces[i].loc, text) || used + strlen(text) + 2 > size) return;
    used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "," : "", text);
  }
}
