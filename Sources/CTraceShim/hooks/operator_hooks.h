// Hooks of the C++ operators new and delete, for allocators that have their own: jemalloc, tcmalloc and mimalloc serve
// them without a call of malloc or free.
//
// Those of the C++ libraries call malloc and free, whose hooks see them. So no name leads here: the tables of images
// do, and only where the operators are the allocator's.

#ifndef LEAKTRACE_OPERATOR_HOOKS_H
#define LEAKTRACE_OPERATOR_HOOKS_H

struct lt_operator_hook {
  const char *name; ///< of the symbol
  void *hook;
  void **next; ///< to be set before anything leads to the hook
};

enum { LT_OPERATOR_COUNT = 20 };
extern const struct lt_operator_hook lt_operator_hooks[LT_OPERATOR_COUNT] __attribute__((visibility("hidden")));

#endif
