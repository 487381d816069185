#include "os/number_text.h"

#include "check.h"

char *lt_put_number(char *p, uint64_t value, unsigned base) {
  char digits[LT_NUMBER_SIZE];
  int n = 0;
  LT_CHECK(base >= 8 && base <= 16);
  do digits[n++] = "0123456789abcdef"[value % base];
  while (value /= base);
  LT_CHECK(n < LT_NUMBER_SIZE);
  while (n) *p++ = digits[--n];
  *p = 0;
  return p;
}
