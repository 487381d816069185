// The images loaded in the process, written to the trace as they come and go.

#ifndef LEAKTRACE_IMAGE_LIST_H
#define LEAKTRACE_IMAGE_LIST_H

#include "thread/thread_state.h"

struct dl_phdr_info;

/// Looks for images that came or went since the last look, and defines the changes. Cheap if there are none. Skips if
/// another thread is at it.
void lt_image_list_refresh(struct lt_thread *thread);
/// Tells whether an image that was written covers the address. A false no only costs a refresh.
bool lt_image_list_covers(uintptr_t address);
/// Tells whether two addresses are in one image.
bool lt_image_list_has_both(uintptr_t a, uintptr_t b);
/// Bytes below a thread pointer that are thread-local variables, as far as images were looked at.
uint64_t lt_static_tls_size(void);
/// An observer of images, for when the loader does not tell. Members may be NULL.
struct lt_image_observer {
  /// An image that was not there before. False if it is not relocated yet, and has to be shown again.
  bool (*came)(const struct dl_phdr_info *info);
  /// An image that was there and is not any more.
  void (*went)(uintptr_t start, uintptr_t end);
  /// Images came or went.
  void (*changed)(void);
  /// Shows the images of other namespaces than the program's. Called while dl_iterate_phdr shows an image.
  void (*showElsewhere)(int (*look)(struct dl_phdr_info *, size_t, void *), size_t size, void *context);
};

/// Once, before the first refresh.
void lt_image_list_observe(struct lt_image_observer observer);
/// Forgets what was written: in a child made by fork, for its own trace.
void lt_image_list_reset(void);

#endif
