// The sets of hooks, and the runtime of each.

#define _GNU_SOURCE
#include "hooks/swift_runtimes.h"

#include "hooks/light_recording.h"
#include "hooks/swift_hooks.h"
#include "process/lifecycle.h"
#include "record/message.h"

#include <string.h>

/// Changed by one thread at a time: before hooks are on, under the loader's lock, or by the one that looks through the
/// images.
static struct { uintptr_t start, end; } hooked[LT_SWIFT_RUNTIME_LIMIT];

void lt_swift_runtimes_hook(const struct lt_loaded_image *image, const struct lt_swift_runtime *runtime) {
  unsigned free = LT_SWIFT_RUNTIME_LIMIT;
  for (unsigned i = LT_SWIFT_RUNTIME_LIMIT; i-- > 0;) {
    if (hooked[i].end && hooked[i].start == image->start) return;
    if (!hooked[i].end) free = i;
  }
  if (free == LT_SWIFT_RUNTIME_LIMIT) {
    lt_process_warn("Swift objects are not seen, only malloc: too many Swift runtimes are loaded already, before ",
                    image->path);
    return;
  }
  // Objects are found in memory where samples are taken.
  if (lt_sample_period) {
    lt_process_has_swift(runtime->isLinkedIn);
    return;
  }
  hooked[free].start = image->start;
  hooked[free].end = image->end;
  lt_swift_hooks_install(free, runtime);
  lt_process_has_swift(runtime->isLinkedIn);
}

void lt_swift_runtimes_refuse(const struct lt_loaded_image *image, enum lt_swift_search reason) {
  const char *path = image->isExecutable ? NULL : image->path;
  if (reason == LT_SWIFT_STRIPPED && !path)
    lt_process_warn("Swift objects are not seen, only malloc: the program has the Swift runtime inside it and was "
                    "stripped. Trace the unstripped program.",
                    NULL);
  else if (reason == LT_SWIFT_STRIPPED)
    lt_process_warn("Swift objects of a library are not seen, only malloc: it has the Swift runtime inside it and was "
                    "stripped. Load the unstripped library: ",
                    path);
  else if (reason == LT_SWIFT_UNKNOWN)
    lt_process_warn("Swift objects are not seen, only malloc: this version of the Swift runtime has none of the hooks "
                    "that are known here",
                    path);
}

void lt_swift_runtimes_forget(uintptr_t start, uintptr_t end) {
  for (unsigned i = 0; i < LT_SWIFT_RUNTIME_LIMIT; i++)
    if (hooked[i].end && hooked[i].start >= start && hooked[i].start < end) hooked[i].start = hooked[i].end = 0;
}

void lt_swift_runtimes_unhook(void) {
  for (unsigned i = 0; i < LT_SWIFT_RUNTIME_LIMIT; i++) {
    if (!hooked[i].end) continue;
    lt_swift_hooks_remove(i);
    hooked[i].start = hooked[i].end = 0;
  }
}
