// Defines functions of newer versions of glibc that static libraries need, so that the command runs with an older one.
//
// GCC's unwinder calls _dl_find_object (glibc 2.35), libstdc++ calls arc4random (glibc 2.36), and glibc 2.35 has a new
// version of hypotf. The linker prefers these definitions, which need only glibc 2.17.

#define _GNU_SOURCE
#include <link.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Gives a function the name of a glibc function for the linker. glibc's headers may declare that name differently.
#define STANDS_FOR(name) __asm__(name) __attribute__((visibility("hidden"), used))

/// The beginning of glibc's `struct dl_find_object`, which GCC's unwinder reads. Seen in glibc 2.36 and GCC 12.2.
struct found_object {
  unsigned long long flags;
  void *map_start;
  void *map_end;
  struct link_map *link_map;
  void *eh_frame; ///< the image's table of frames; the unwinder skips images without one
};

struct search {
  uintptr_t address;
  struct found_object *found;
};

static int compare(struct dl_phdr_info *image, size_t size, void *context) {
  (void)size;
  struct search *search = context;
  uintptr_t first = UINTPTR_MAX, end = 0;
  void *frames = NULL;
  int holds = 0;
  for (int i = 0; i < image->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &image->dlpi_phdr[i];
    uintptr_t start = image->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) frames = (void *)start;
    if (part->p_type != PT_LOAD) continue;
    if (start < first) first = start;
    if (start + part->p_memsz > end) end = start + part->p_memsz;
    if (search->address >= start && search->address - start < part->p_memsz) holds = 1;
  }
  if (!holds) return 0;
  *search->found = (struct found_object){.map_start = (void *)first, .map_end = (void *)end, .eh_frame = frames};
  return 1;
}

/// Finds the image that contains an address. Returns 0, or -1 if there is no such image with a table of frames. For any
/// thread.
int find_object(void *address, struct found_object *found) STANDS_FOR("_dl_find_object");
int find_object(void *address, struct found_object *found) {
  struct search search = {.address = (uintptr_t)address, .found = found};
  return dl_iterate_phdr(compare, &search) && found->eh_frame ? 0 : -1;
}

/// Four random bytes from the kernel. Ends the process if there are none, as glibc does.
uint32_t random_number(void) STANDS_FOR("arc4random");
uint32_t random_number(void) {
  uint32_t number;
  if (syscall(SYS_getrandom, &number, sizeof number, 0) != sizeof number) abort();
  return number;
}

/// Returns the length of a vector. The squares fit into a double, so nothing overflows. Does not set errno.
float length(float x, float y) STANDS_FOR("hypotf");
float length(float x, float y) {
  if (isinf(x) || isinf(y)) return INFINITY;
  return (float)sqrt((double)x * x + (double)y * y);
}
