// The ELF images that another process has loaded, read from its memory.

#ifndef LEAKTRACE_REMOTE_IMAGES_H
#define LEAKTRACE_REMOTE_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// An image. Addresses are the process's, and nothing that its memory says is trusted.
struct lt_remote_image {
  uint64_t start, end;
  uint64_t bias;         ///< added to addresses in the file
  uint64_t unwindHeader; ///< .eh_frame_hdr; 0 if there is none
  uint64_t symbols, names, hash;
  uint64_t namesSize;
  bool isExecutable; ///< the program itself
  char *path;        ///< as the kernel names it, without " (deleted)"
};

struct lt_remote_images {
  pid_t process;
  struct lt_remote_image *images; ///< in order of their addresses
  size_t count;
};

/// Reads the list. False if the process cannot be read. Free the list in either case.
bool lt_remote_images_read(pid_t process, struct lt_remote_images *images);
void lt_remote_images_free(struct lt_remote_images *images);

/// The image around an address; NULL if there is none.
const struct lt_remote_image *lt_remote_image_at(const struct lt_remote_images *images, uint64_t address);

/// The last component of an image's path.
const char *lt_remote_image_name(const struct lt_remote_image *image);

struct lt_remote_function {
  uint64_t start, end;
};

/// A function that an image defines for others, by the hash table of its dynamic symbols. False if it has none of that
/// name.
bool lt_remote_function(const struct lt_remote_images *images, const struct lt_remote_image *image, const char *name,
                        struct lt_remote_function *function);

/// Widens a stretch of code up to the next functions on either side that the image defines for others: those between
/// have no names, and belong to the stretch or do not.
void lt_remote_widen(const struct lt_remote_images *images, const struct lt_remote_image *image,
                     struct lt_remote_function *stretch);

#endif
