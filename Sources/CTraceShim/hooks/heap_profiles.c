#include "hooks/heap_profiles.h"

#include "hooks/light_recording.h"
#include "hooks/next_functions.h"
#include "os/apart_task.h"
#include "process/recording.h"
#include "profile/copy_allocator.h"
#include "profile/function_names.h"
#include "profile/heap_profile.h"

#include <errno.h>

/// In a copy of the process, where the program's allocator may be in the middle of something.
static void use_copy_allocator(void) {
  lt_next = (struct lt_next_functions){.malloc = lt_copy_malloc,
                                       .calloc = lt_copy_calloc,
                                       .realloc = lt_copy_realloc,
                                       .free = lt_copy_free,
                                       .posix_memalign = lt_copy_posix_memalign,
                                       .aligned_alloc = lt_copy_aligned,
                                       .memalign = lt_copy_aligned,
                                       .valloc = lt_copy_malloc,
                                       .pvalloc = lt_copy_malloc};
}

void lt_heap_profiles_init(void) { lt_function_names_init(use_copy_allocator); }

struct call {
  struct lt_heap_profile profile;
  int error;
};

static void make(void *call) {
  struct call *c = call;
  c->error = lt_heap_profile_make(&c->profile, lt_sample_period);
}

LT_EXPORT int LT_HOOK(leaktrace_heap_profile)(void (*take)(void *, const uint8_t *, size_t), void *context) {
  if (!lt_sample_period || !lt_recording_is_on()) return -ENODEV;
  struct call call = {.error = -EAGAIN};
  lt_call_apart(make, &call);
  if (call.error) return call.error;
  take(context, call.profile.bytes, call.profile.size);
  lt_heap_profile_free(&call.profile);
  return 0;
}
