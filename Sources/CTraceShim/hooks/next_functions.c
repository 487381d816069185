// The functions that the hooks interpose.

#define _GNU_SOURCE
#include "hooks/next_functions.h"

#include "arch/compiler.h"
#include "elf/next_symbol.h"

LT_HOOK_DATA struct lt_next_functions lt_next;

void lt_next_functions_find(struct lt_next_functions *found) {
#define FIND(result, name, parameters) *(void **)&found->name = lt_next_symbol(#name);
  LT_HOOKED_MALLOC_FAMILY(FIND)
#undef FIND
}
