// An image that the loader has mapped: its place, and the symbols that are mapped with it.
//
// Asks the loader nothing, so that an image can be looked at while the loader is at work on it, relocated or not.

#ifndef LEAKTRACE_LOADED_IMAGE_H
#define LEAKTRACE_LOADED_IMAGE_H

#include "check.h"
#include "elf/elf_file.h"

struct lt_loaded_image {
  uintptr_t bias, start, end; ///< [start, end) has all segments, and is not empty
  const ElfW(Phdr) *programHeaders;
  uint32_t programHeaderCount;
  ElfW(Dyn) *dynamic; ///< not NULL
  const char *path;   ///< as the loader has it; for the executable, the kernel's link to it
  bool isExecutable;  ///< the program itself
};

/// Fills in the image from what dl_iterate_phdr shows. False if it has no code or no dynamic section.
bool lt_loaded_image_from_info(const struct dl_phdr_info *info, struct lt_loaded_image *image);
/// Fills in the image from the loader's list of images. False if its ELF header is not mapped where the image begins.
bool lt_loaded_image_from_map(const struct link_map *map, struct lt_loaded_image *image);

/// The run-time address of a symbol that the image defines for others. False if there is none. Constant time with a GNU
/// hash table.
bool lt_loaded_image_symbol(const struct lt_loaded_image *image, const char *name, struct lt_symbol *found);
/// Tells whether the image imports a symbol whose name begins with `prefix`.
bool lt_loaded_image_imports(const struct lt_loaded_image *image, const char *prefix);
/// Tells whether one of the image's references to data of others leads into [start, end): those are settled when the
/// image is loaded. Linear in its relocations.
bool lt_loaded_image_refers(const struct lt_loaded_image *image, uintptr_t start, uintptr_t end);
/// Tells whether the loader has relocated the image, by the first place that holds an address of the image itself. True
/// if there is none.
bool lt_loaded_image_is_relocated(const struct lt_loaded_image *image);

/// A word of an image in which the loader puts the address of a symbol.
struct lt_reference {
  const char *name; ///< of the symbol
  void **place;
  bool isCall;      ///< used by calls alone; other references may be compared, and kept elsewhere
  bool isUnsettled; ///< a call that was not made yet, and leads to the loader
};
/// Shows all references to symbols of an image that is relocated. Linear in its relocations.
void lt_loaded_image_show_references(const struct lt_loaded_image *image,
                                     void (*visit)(const struct lt_reference *reference, void *context), void *context);
/// Changes such a word. A part of the image that was made read-only after it was relocated is so again.
void lt_loaded_image_replace(const struct lt_loaded_image *image, void **place, void *address);

/// Makes the image's references to symbols of these names lead to other addresses. The image must be relocated; parts
/// that were made read-only after that are so again.
void lt_loaded_image_bind(const struct lt_loaded_image *image, const char *const names[], void *const addresses[],
                          int count);
/// Redirects an image's calls of the function `name` from `from` to `to`, also calls not yet made, which the loader
/// would bind to the first function of the name. Pointers to the function stay as they are: a program may compare them.
/// The image must be relocated.
void lt_loaded_image_rebind_calls(const struct lt_loaded_image *image, const char *name, void *from, void *to);
/// The entry of the dynamic section, or NULL.
ElfW(Dyn) *lt_loaded_image_entry(const struct lt_loaded_image *image, ElfW(Sxword) tag);
/// Tells whether an address is in a segment that is loaded to be written to.
bool lt_loaded_image_is_writable(const struct lt_loaded_image *image, uintptr_t address);

static inline bool lt_loaded_image_covers(const struct lt_loaded_image *image, uintptr_t address) {
  return address >= image->start && address < image->end;
}

#endif
