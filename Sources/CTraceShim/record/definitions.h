// Definitions in the trace: the loaded images, and the numbers of Swift types.

#ifndef LEAKTRACE_DEFINITIONS_H
#define LEAKTRACE_DEFINITIONS_H

#include "thread/thread_state.h"
#include "type_set.h"

// --- images ----------------------------------------------------------------------------------------------------------

// The images of the process. They are written to the trace as they are loaded and unloaded.

struct dl_phdr_info;

/// Finds images that were loaded or unloaded since the previous call, and writes these changes to the trace. Takes
/// little time if there are none. Does nothing if another thread is in this function.
void lt_image_list_refresh(struct lt_thread *thread);
/// True if an image in the trace covers the address. A wrong false only causes an unnecessary refresh.
bool lt_image_list_covers(uintptr_t address);
/// True if one image covers both addresses.
bool lt_image_list_has_both(uintptr_t a, uintptr_t b);
/// Returns the bytes of thread-local variables below a thread pointer, for the images seen so far.
uint64_t lt_static_tls_size(void);
/// An observer of images. It replaces the loader's reports where the loader makes none. Members may be NULL.
struct lt_image_observer {
  /// Called for a new image. Returns false if the image is not relocated yet; then it is called again later.
  bool (*came)(const struct dl_phdr_info *info);
  /// Called for an image that was unloaded.
  void (*went)(uintptr_t start, uintptr_t end);
  /// Called when images were loaded or unloaded.
  void (*changed)(void);
  /// Calls `look` for each image that is not in the program's namespace. Called while dl_iterate_phdr shows an image.
  void (*showElsewhere)(int (*look)(struct dl_phdr_info *, size_t, void *), size_t size, void *context);
};

/// Sets the observer. Called once, before the first refresh.
void lt_image_list_observe(struct lt_image_observer observer);
/// Forgets the images written so far, in a child made by fork, which has its own trace.
void lt_image_list_reset(void);

// --- types -----------------------------------------------------------------------------------------------------------

// Gives numbers to the Swift types of objects.

/// Returns the number of the type whose metadata is at this address. At the first call, defines the type and its
/// superclasses in the trace. Returns 0 if the table is full.
uint32_t lt_type_for(struct lt_thread *thread, uint64_t metadata);
void lt_type_table_reset(void);
/// Forgets the metadata in [start, end) when its image is unloaded: a later record at the same address is another type.
void lt_type_table_forget(uintptr_t start, uintptr_t end);

/// Copies at most `limit` of the types whose objects the recorder has seen being allocated, in no particular order.
/// Returns the number of copied types. Takes no lock and defines nothing.
uint32_t lt_types(struct lt_scanned_type *types, uint32_t limit);
/// The most types that the table can hold.
enum { LT_TYPE_PLACES = 1 << 16 };

#endif
