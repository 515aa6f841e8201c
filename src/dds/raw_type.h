/* DDS types created at run time from only a name. A sample is its CDR bytes as sent: the 4 bytes of
 * encapsulation, the body, and zeros up to a multiple of 4. Types use XCDR1 in either byte order. A
 * keyed one matches keyed endpoints only, others match others only; all samples are one instance,
 * as the members of the key are not known. */
#ifndef TB_DDS_RAW_TYPE_H
#define TB_DDS_RAW_TYPE_H

#include <dds/ddsi/ddsi_serdata.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dds/related_identity.h"
#include "dds/resend.h"

#define TB__CDR_HEADER_SIZE 4
#define TB__CDR_SIZE_MAX    0x7ffffff0u

/* True for plain CDR, big or little endian, of a size that DDS can carry. */
bool tb__cdr_is_valid(const void *cdr, size_t size);

/* For dds_create_topic_sertype, which takes ownership on success; else ddsi_sertype_unref.
 * NULL: out of memory. */
struct ddsi_sertype *tb__raw_type_create(const char *type_name, bool is_keyed);

/* A sample with a copy of `cdr`, which must be valid. NULL: out of memory. */
struct ddsi_serdata *tb__raw_sample_create(const struct ddsi_sertype *type, const void *cdr,
                                           size_t size);

/* The same, for packets with these parameters in the inline QoS (inline_qos.h). To be written only
 * by writers for which tb__transport_hook_install has returned TB__INLINE_QOS_ON. */
struct ddsi_serdata *tb__raw_sample_create_with(const struct ddsi_sertype *type, const void *cdr,
                                                size_t size, const void *inline_qos,
                                                size_t inline_qos_size);

/* Whether the sample was created so, in this process. */
bool tb__raw_sample_has_inline_qos(const struct ddsi_serdata *sample);

/* What readers of Fast DDS are sent again of a sample of this process. `number` is its RTPS
 * sequence number; 0: unknown. [any thread] The number may be corrected after the sample was
 * written. */
void tb__raw_sample_limit(struct ddsi_serdata *sample, tb__resend_t resend, int64_t number);

/* Whether a reader of Fast DDS is sent it again that has acknowledged all up to this number. */
bool tb__raw_sample_is_due(const struct ddsi_serdata *sample, int64_t acknowledged);

/* The bytes of a sample of a raw type, and how many. */
const void *tb__raw_sample_bytes(const struct ddsi_serdata *sample, size_t *out_size);

/* System time at which the sample was created; for one from the network, when it was complete. */
int64_t tb__raw_sample_received_ns(const struct ddsi_serdata *sample);
/* Steady time of the same moment. */
int64_t tb__raw_sample_received_steady_ns(const struct ddsi_serdata *sample);

/* The sequence number of its writer; 0: it did not come from the network. */
uint64_t tb__raw_sample_sequence(const struct ddsi_serdata *sample);

/* False: it did not come from the network. */
bool tb__raw_sample_origin(const struct ddsi_serdata *sample, tb__sample_origin_t *out);

extern const struct ddsi_serdata_ops tb__raw_sample_ops;

#endif
