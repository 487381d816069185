#ifndef LEAKTRACE_NUMBER_TEXT_H
#define LEAKTRACE_NUMBER_TEXT_H

#include <stdint.h>

/// Most bytes that a number takes, with the zero at its end.
enum { LT_NUMBER_SIZE = 24 };

/// Puts a number in a base from 8 to 16, and a zero behind it. Returns the address of that zero.
char *lt_put_number(char *p, uint64_t value, unsigned base);
static inline char *lt_put_decimal(char *p, uint64_t value) { return lt_put_number(p, value, 10); }

#endif
