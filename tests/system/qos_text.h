/* All policies of an endpoint as text, in the form of the captures but without white space. */
#ifndef TB_TEST_QOS_TEXT_H
#define TB_TEST_QOS_TEXT_H

#include <dds/dds.h>
#include <stdbool.h>

#define QOS_TEXT_SIZE 4096

/* Fails the test where a policy is missing that the captures have. */
void qos_text(const dds_qos_t *qos, bool is_writer, char out[QOS_TEXT_SIZE]);

#endif
