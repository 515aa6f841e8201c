#include "bag_digest.h"

#include <openssl/evp.h>
#include <stdio.h>

struct bag_digest; /* is OpenSSL's own */

bag_digest_t *bag_digest_create(void)
{
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  if (context && !EVP_DigestInit_ex(context, EVP_sha256(), NULL)) {
    EVP_MD_CTX_free(context);
    return NULL;
  }
  return (bag_digest_t *)context;
}

bool bag_digest_add(bag_digest_t *digest, const void *data, size_t size)
{
  return EVP_DigestUpdate((EVP_MD_CTX *)digest, data, size) == 1;
}

bool bag_digest_text(bag_digest_t *digest, char out[BAG_DIGEST_TEXT_SIZE])
{
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (!EVP_DigestFinal_ex((EVP_MD_CTX *)digest, bytes, &size)) return false;
  for (unsigned i = 0; i < size && 2 * i + 2 < BAG_DIGEST_TEXT_SIZE; i++)
    snprintf(out + (size_t)2 * i, 3, "%02x", bytes[i]);
  return true;
}

void bag_digest_destroy(bag_digest_t *digest)
{
  EVP_MD_CTX_free((EVP_MD_CTX *)digest);
}
