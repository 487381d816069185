// Lists the ELF images that another process has loaded, from that process's memory.

#ifndef LEAKTRACE_REMOTE_IMAGES_H
#define LEAKTRACE_REMOTE_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// An image. Addresses are those in the process, whose memory is not trusted.
struct lt_remote_image {
  uint64_t start, end;
  uint64_t bias;         ///< an address in memory minus the address in the file
  uint64_t unwindHeader; ///< .eh_frame_hdr; 0 if there is none
  uint64_t symbols, names, hash;
  uint64_t namesSize;
  bool isExecutable; ///< the program itself
  char *path;        ///< the kernel's path of the file, without " (deleted)"
};

struct lt_remote_images {
  pid_t process;
  struct lt_remote_image *images; ///< in order of their addresses
  size_t count;
};

/// Reads the list. Returns false if the process cannot be read. Free the list in either case.
bool lt_remote_images_read(pid_t process, struct lt_remote_images *images);
void lt_remote_images_free(struct lt_remote_images *images);

/// Returns the image that contains an address; NULL if there is none.
const struct lt_remote_image *lt_remote_image_at(const struct lt_remote_images *images, uint64_t address);

/// Returns the last component of an image's path.
const char *lt_remote_image_name(const struct lt_remote_image *image);

struct lt_remote_function {
  uint64_t start, end;
};

/// Finds a function that an image exports, by the hash table of its dynamic symbols. Returns false if the image exports
/// no function with that name.
bool lt_remote_function(const struct lt_remote_images *images, const struct lt_remote_image *image, const char *name,
                        struct lt_remote_function *function);

/// Widens a stretch of code on both sides, up to the next functions that the image exports. The functions in between
/// have no names, so they may belong to the stretch.
void lt_remote_widen(const struct lt_remote_images *images, const struct lt_remote_image *image,
                     struct lt_remote_function *stretch);

#endif
