/* SHA-256 of what is put into it piece by piece. */
#ifndef TB_CLI_BAG_DIGEST_H
#define TB_CLI_BAG_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#define BAG_DIGEST_TEXT_SIZE 65 /* hexadecimal, with its NUL */

typedef struct bag_digest bag_digest_t;

bag_digest_t *bag_digest_create(void); /* NULL: no memory */
bool bag_digest_add(bag_digest_t *digest, const void *data, size_t size);
/* Once, at the end. */
bool bag_digest_text(bag_digest_t *digest, char out[BAG_DIGEST_TEXT_SIZE]);
void bag_digest_destroy(bag_digest_t *digest);

#endif
