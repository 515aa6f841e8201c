/* Inline QoS for samples of ours, which Cyclone DDS cannot write: inserted into the packets that
 * carry them. A sample is known by the address of its bytes, to which the packet refers. So it is
 * found in retransmissions too, for as long as DDS keeps it, and nothing is numbered or counted. */
#ifndef TB_DDS_INLINE_QOS_H
#define TB_DDS_INLINE_QOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define TB__INLINE_QOS_MAX 96 /* bytes of parameters, a multiple of 4 */

#define TB__PACKET_SIZE_MAX 65507u /* UDP over IPv4 */

/* A sample with inline QoS. Within the sample. */
typedef struct tb__inline_qos {
  struct tb__inline_qos *next, *previous;
  const void *payload; /* the bytes of the sample */
  uint32_t size;
  uint8_t parameters[TB__INLINE_QOS_MAX]; /* without a sentinel */
} tb__inline_qos_t;

/* [any thread] From now on, until tb__inline_qos_remove, packets with the bytes at `payload` get
 * these parameters: in the byte order of this machine, `size` at most TB__INLINE_QOS_MAX. */
void tb__inline_qos_add(tb__inline_qos_t *qos, const void *payload, const void *parameters,
                        size_t size);
void tb__inline_qos_remove(tb__inline_qos_t *qos);

/* Whether any sample has inline QoS: if not, no packet needs to be looked at. */
bool tb__inline_qos_is_used(void);

/* A packet with what was inserted. */
typedef struct tb__packet {
  struct iovec *parts;
  size_t count;
  struct tb__packet_copy *copies;
} tb__packet_t;

typedef enum tb__packet_result {
  TB__PACKET_UNCHANGED, /* *out is empty */
  TB__PACKET_CHANGED,   /* send *out instead */
  TB__PACKET_LOST,      /* no memory, or no submessage fits into a packet: send nothing */
} tb__packet_result_t;

/* `parts` is an RTPS message as Cyclone DDS makes it: headers are whole within a part, and the
 * bytes of a sample are a part of their own. All fragments get the inline QoS, because Fast DDS
 * takes that of the fragment that it receives first. Where the packet would be larger than
 * TB__PACKET_SIZE_MAX, it ends before the submessage that does not fit, as if that had been lost.
 * The parts of samples stay what they are, so that another library may insert its own. Free *out.
 */
tb__packet_result_t tb__packet_insert(const struct iovec *parts, size_t count, tb__packet_t *out);
void tb__packet_free(tb__packet_t *packet);

#endif
