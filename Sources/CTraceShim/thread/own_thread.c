#include "thread/own_thread.h"

#include "check.h"
#include "thread/thread_state.h"

uintptr_t lt_make_thread_local(void) {
  size_t size = lt_thread_local_size(&lt_tls);
  LT_CHECK(size % 4096 == 0);
  uint8_t *memory = size ? lt_map_private(size) : NULL;
  return memory ? lt_thread_local_make(memory, &lt_tls) : 0;
}
