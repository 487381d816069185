// Definitions in the trace: the loaded images, and the numbers of Swift types.

#ifndef LEAKTRACE_DEFINITIONS_H
#define LEAKTRACE_DEFINITIONS_H

#include "thread/thread_state.h"
#include "type_set.h"

// --- images ----------------------------------------------------------------------------------------------------------

// The images of the process, written to the trace as they are loaded and unloaded.

struct dl_phdr_info;

/// Finds images that were loaded or unloaded since the last call, and defines the changes. Cheap if there are none.
/// Does nothing if another thread is doing it.
void lt_image_list_refresh(struct lt_thread *thread);
/// True if an image in the trace covers the address. A false no costs only a refresh.
bool lt_image_list_covers(uintptr_t address);
/// True if two addresses are in one image.
bool lt_image_list_has_both(uintptr_t a, uintptr_t b);
/// Bytes of thread-local variables below a thread pointer, for the images seen so far.
uint64_t lt_static_tls_size(void);
/// An observer of images, for when the loader does not report them. Members may be NULL.
struct lt_image_observer {
  /// Called for a new image. False if it is not relocated yet, and must be shown again.
  bool (*came)(const struct dl_phdr_info *info);
  /// Called for an image that was unloaded.
  void (*went)(uintptr_t start, uintptr_t end);
  /// Called when images were loaded or unloaded.
  void (*changed)(void);
  /// Shows the images of namespaces other than the program's. Called while dl_iterate_phdr shows an image.
  void (*showElsewhere)(int (*look)(struct dl_phdr_info *, size_t, void *), size_t size, void *context);
};

/// Sets the observer. Called once, before the first refresh.
void lt_image_list_observe(struct lt_image_observer observer);
/// Forgets the images written so far: in a child made by fork, for its own trace.
void lt_image_list_reset(void);

// --- types -----------------------------------------------------------------------------------------------------------

// Numbers for the Swift types of objects.

/// The number of the type whose metadata is at this address; defines it, and its superclasses, the first time. 0 when
/// the table is full.
uint32_t lt_type_for(struct lt_thread *thread, uint64_t metadata);
void lt_type_table_reset(void);
/// Forgets metadata in [start, end), which is gone with its image: a later record there is another type.
void lt_type_table_forget(uintptr_t start, uintptr_t end);

/// Copies at most `limit` of the types that objects were seen being allocated of, in no order. Returns how many. Takes
/// no lock and defines nothing.
uint32_t lt_types(struct lt_scanned_type *types, uint32_t limit);
/// Types that there are at most.
enum { LT_TYPE_PLACES = 1 << 16 };

#endif
