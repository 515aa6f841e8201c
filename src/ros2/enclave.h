/* Finds the security files of an enclave as the ROS 2 environment selects it. Only reads files.
 * Follows rcl and rmw_cyclonedds of ROS 2 jazzy. */
#ifndef TB_ROS2_ENCLAVE_H
#define TB_ROS2_ENCLAVE_H

#include <timebase/error.h>

#include "dds/security.h"

/* Values of the variables; NULL or "" when unset. */
typedef struct tb__security_environment {
  const char *enable;           /* ROS_SECURITY_ENABLE */
  const char *keystore;         /* ROS_SECURITY_KEYSTORE */
  const char *strategy;         /* ROS_SECURITY_STRATEGY */
  const char *enclave_override; /* ROS_SECURITY_ENCLAVE_OVERRIDE */
} tb__security_environment_t;

/* The pointers last until the environment changes. */
tb__security_environment_t tb__security_environment_read(void);

/* The files of the enclave, to be freed; NULL where the participant is to be unsecured: security is
 * off, or the strategy is not "Enforce" and something is missing, which is logged as a warning.
 * TB_ERR_INVALID: ENCLAVE_OVERRIDE does not begin with '/', or a file does not match its name.
 * TB_ERR_SYSTEM: a file cannot be read. With "Enforce" TB_ERR_NOT_FOUND: something is missing. */
TB_WARN_UNUSED tb_status_t tb__security_find(const tb__security_environment_t *environment,
                                             const char *enclave, tb__security_t **out,
                                             tb_error_t *error);

#endif
