// Code of another process that matters to a call of the loader: its loader, its allocator, its C library, and the
// functions to call.

#ifndef LEAKTRACE_CODE_PLACES_H
#define LEAKTRACE_CODE_PLACES_H

#include "remote_images.h"

enum lt_code_place {
  LT_CODE_OTHER,     ///< the program's or a library's
  LT_CODE_NOWHERE,   ///< in no image
  LT_CODE_LIBC,      ///< the C library's; the next ones are parts of it
  LT_CODE_LOADER,    ///< may hold the loader's lock
  LT_CODE_ALLOCATOR, ///< may hold a lock of an arena; hooks of the recorder count as that
  LT_CODE_FORK,      ///< holds both
  LT_CODE_EXIT,      ///< the process is ending
  LT_CODE_THREADS,   ///< may hold the lock of the list of threads' stacks, which the loader takes
};

struct lt_code_range {
  uint64_t start, end;
  enum lt_code_place place;
};

enum { LT_MOST_CODE_RANGES = 256 };

struct lt_code_places {
  struct lt_remote_images images;
  struct lt_code_range ranges[LT_MOST_CODE_RANGES]; ///< the first that fits counts
  size_t rangeCount;
  uint64_t openLibrary; ///< dlopen
  uint64_t openMode;    ///< extra flags of its second argument, for the function used in its place
  uint64_t lastError;   ///< dlerror; 0 where it is not found
  uint64_t errorPlace;  ///< __errno_location
  /// The signal restorer, to which signal handlers return: it has the kernel restore all registers.
  uint64_t restorer;
  uint64_t systemCall, returning; ///< instructions `syscall` and `ret` of libc's function of the former's name; or 0
  const struct lt_remote_image *recorder; ///< the preloaded library; NULL if it is not there
};

enum lt_places_result {
  LT_PLACES_FOUND,
  LT_PLACES_UNREADABLE,
  LT_PLACES_STATIC,       ///< no dynamic loader
  LT_PLACES_OTHER_LIBC,   ///< not glibc
  LT_PLACES_NO_FUNCTIONS, ///< glibc without the functions that are needed
};

enum lt_places_result lt_code_places_find(pid_t process, struct lt_code_places *places);
void lt_code_places_free(struct lt_code_places *places);

enum lt_code_place lt_code_place_of(const struct lt_code_places *places, uint64_t address);

#endif
