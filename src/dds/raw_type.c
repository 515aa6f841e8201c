#include "dds/raw_type.h"

#include <dds/dds.h>
#include <stdlib.h>

static void type_free(struct ddsi_sertype *type)
{
  ddsi_sertype_fini(type);
  free(type);
}

/* Samples in memory exist only for typed reads and writes, which raw types do not have. */
static void type_zero_samples(const struct ddsi_sertype *type, void *samples, size_t count)
{
  (void)type;
  (void)samples;
  (void)count;
}

static void type_realloc_samples(void **samples, const struct ddsi_sertype *type, void *old,
                                 size_t old_count, size_t count)
{
  (void)type;
  (void)old;
  (void)old_count;
  for (size_t i = 0; i < count; i++)
    samples[i] = NULL;
}

static void type_free_samples(const struct ddsi_sertype *type, void **samples, size_t count,
                              dds_free_op_t op)
{
  (void)type;
  (void)samples;
  (void)count;
  (void)op;
}

static bool type_equal(const struct ddsi_sertype *a, const struct ddsi_sertype *b)
{
  (void)a; /* names and operations are compared by the caller; there is nothing else */
  (void)b;
  return true;
}

static uint32_t type_hash(const struct ddsi_sertype *type)
{
  (void)type;
  return 0;
}

/* Without get_serialized_size and serialize_into Cyclone keeps these types off shared memory. */
static const struct ddsi_sertype_ops type_ops = {
    .version = ddsi_sertype_v0,
    .free = type_free,
    .zero_samples = type_zero_samples,
    .realloc_samples = type_realloc_samples,
    .free_samples = type_free_samples,
    .equal = type_equal,
    .hash = type_hash,
};

struct ddsi_sertype *tb__raw_type_create(const char *type_name, bool is_keyed)
{
  struct ddsi_sertype *type = calloc(1, sizeof *type);
  if (!type) return NULL;
  ddsi_sertype_init_flags(type, type_name, &type_ops, &tb__raw_sample_ops,
                          is_keyed ? 0 : DDSI_SERTYPE_FLAG_TOPICKIND_NO_KEY);
  type->allowed_data_representation = DDS_DATA_REPRESENTATION_FLAG_XCDR1;
  return type;
}
