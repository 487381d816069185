#include "os/number_text.h"

char *lt_put_number(char *p, uint64_t value, unsigned base) {
  char digits[LT_NUMBER_SIZE];
  int n = 0;
  do digits[n++] = "0123456789abcdef"[value % base];
  while (value /= base);
  while (n) *p++ = digits[--n];
  *p = 0;
  return p;
}
