// Thread-local memory: variables are below the thread pointer, which points to itself (System V ABI for x86-64,
// "Thread-Local Storage").

#include "arch/arch.h"
#include "check.h"

enum { PAGE = 4096, CONTROL_BLOCK_SIZE = 8192, LIMIT = 1 << 20 };

/// Bytes from the page that contains or precedes the variable to the thread pointer.
static size_t size_below(const void *variable) {
  return (lt_thread_pointer() - (uintptr_t)variable + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
}

size_t lt_thread_local_size(const void *variable) {
  return lt_thread_pointer() - (uintptr_t)variable > LIMIT ? 0 : size_below(variable) + CONTROL_BLOCK_SIZE;
}

uintptr_t lt_thread_local_make(uint8_t *memory, const void *variable) {
  const uintptr_t *own = (const uintptr_t *)lt_thread_pointer();
  uintptr_t *made = (uintptr_t *)(memory + size_below(variable));
  LT_CHECK((uint8_t *)made > memory && (uintptr_t)made % PAGE == 0);
  made[0] = made[2] = (uintptr_t)made; // the ABI's, and glibc's own
  made[5] = own[5];                    // the stack guard
  return (uintptr_t)made;
}
