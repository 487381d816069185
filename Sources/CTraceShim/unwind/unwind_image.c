// Calls nothing that allocates or locks if the loader offers _dl_find_object (glibc 2.35); otherwise calls
// dl_iterate_phdr.

#define _GNU_SOURCE
#include "unwind/unwind_image.h"

#include "check.h"
#include "elf/next_symbol.h"

#include <string.h>
#include <sys/auxv.h>

struct found_object { // struct dl_find_object of <dlfcn.h>, spelled out so that older headers do
  unsigned long long flags;
  void *mapStart, *mapEnd;
  struct link_map *linkMap;
  void *ehFrame;
  unsigned long long reserved[7];
};
static int (*findObject)(void *, struct found_object *);

static uintptr_t loaderStart, loaderEnd; ///< [start, end); both 0 in a program without a loader
/// The program as the kernel has mapped it; without segments where that is not known.
static struct lt_unwind_image program;

static void find_program(void) {
  const ElfW(Phdr) *segments = (const ElfW(Phdr) *)getauxval(AT_PHDR);
  uint32_t count = segments ? (uint32_t)getauxval(AT_PHNUM) : 0;
  LT_CHECK(segments || count == 0);
  for (uint32_t i = 0; i < count; i++)
    if (segments[i].p_type == PT_PHDR)
      program = (struct lt_unwind_image){
          .bias = (uintptr_t)segments - segments[i].p_vaddr, .segments = segments, .segmentCount = count};
}

void lt_unwind_images_init(void) {
  *(void **)&findObject = lt_next_symbol("_dl_find_object");
  find_program();
  uintptr_t base = getauxval(AT_BASE);
  if (!base) return;
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
  const ElfW(Phdr) *program = (const ElfW(Phdr) *)(base + header->e_phoff);
  loaderStart = loaderEnd = base;
  for (int i = 0; i < header->e_phnum; i++)
    if (program[i].p_type == PT_LOAD && base + program[i].p_vaddr + program[i].p_memsz > loaderEnd)
      loaderEnd = base + program[i].p_vaddr + program[i].p_memsz;
}

struct image_query {
  uintptr_t address;
  struct lt_unwind_image *image;
};

static int find_by_program_headers(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct image_query *query = context;
  struct lt_unwind_image image = {
      .bias = info->dlpi_addr, .segments = info->dlpi_phdr, .segmentCount = info->dlpi_phnum};
  if (!lt_unwind_segment(&image, query->address, 0)) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) image.searchTable = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
  *query->image = image;
  return 1;
}

bool lt_unwind_find_image(uintptr_t address, struct lt_unwind_image *image) {
  struct found_object object;
  struct image_query query = {address, image};
  if (!findObject) return dl_iterate_phdr(find_by_program_headers, &query) == 1;
  if (findObject((void *)address, &object) != 0) return false;
  *image = (struct lt_unwind_image){.bias = object.linkMap->l_addr, .searchTable = (uintptr_t)object.ehFrame};
  if (image->bias == program.bias && program.segmentCount) {
    // The kernel maps the program's segments one by one. With a gap between two of them, the loader considers each a
    // map of its own, and a map's start may have no headers (glibc 2.36, elf/dl-find_object.c).
    image->segments = program.segments;
    image->segmentCount = program.segmentCount;
    return true;
  }
  const ElfW(Ehdr) *header = object.mapStart;
  // If an image's headers are not at its beginning, its readable parts are unknown.
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(ElfW(Phdr))) return false;
  image->segments = (const ElfW(Phdr) *)((uintptr_t)header + header->e_phoff);
  image->segmentCount = header->e_phnum;
  return true;
}

bool lt_unwind_is_in_loader(uintptr_t address) {
  LT_CHECK(loaderStart <= loaderEnd);
  return address >= loaderStart && address < loaderEnd;
}

bool lt_unwind_is_code(uintptr_t address) {
  struct lt_unwind_image image;
  if (!lt_unwind_find_image(address, &image)) return false;
  LT_CHECK(image.segments && image.segmentCount > 0);
  return lt_unwind_segment(&image, address, PF_X);
}
