#include "base/loan.h"

static _Thread_local const tb__loan_t *lent;

void tb__loan_set(const tb__loan_t *loan)
{
  lent = loan;
}

const tb__loan_t *tb__loan_find(const void *data, size_t size)
{
  return lent && lent->data == data && lent->size == size ? lent : NULL;
}
