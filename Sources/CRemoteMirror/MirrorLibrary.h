// The part of the remote mirror library's C interface that this module uses.

#ifndef LEAKTRACE_MIRROR_LIBRARY_H
#define LEAKTRACE_MIRROR_LIBRARY_H

#include "CRemoteMirror.h"

struct mirror_type_info {
  int kind;
  unsigned size, alignment, stride, fieldCount;
};

struct mirror_child_info {
  const char *name;
  unsigned offset;
  int kind;
  uint64_t type;
};

typedef void mirror_free(void *context, const void *bytes, void *token);
typedef const void *mirror_read(void *context, uint64_t address, uint64_t size, void **token);
typedef uint64_t mirror_string_length(void *context, uint64_t address);
typedef uint64_t mirror_symbol(void *context, const char *name, uint64_t length);

struct lt_mirror_library {
  void *(*create)(void *context, uint8_t pointerSize, mirror_free *, mirror_read *, mirror_string_length *,
                  mirror_symbol *);
  int (*addImage)(void *mirror, uint64_t start);
  struct mirror_type_info (*infoForMetadata)(void *mirror, uintptr_t metadata);
  struct mirror_child_info (*childOfMetadata)(void *mirror, uintptr_t metadata, unsigned index);
  struct mirror_type_info (*infoForInstance)(void *mirror, uintptr_t object);
  struct mirror_child_info (*childOfInstance)(void *mirror, uintptr_t object, unsigned index);
  struct mirror_type_info (*infoForType)(void *mirror, uint64_t type);
  struct mirror_child_info (*childOfType)(void *mirror, uint64_t type, unsigned index);
  uint64_t (*typeForMetadata)(void *mirror, uintptr_t metadata);
  unsigned (*argumentCount)(uint64_t type);
  uint64_t (*argument)(uint64_t type, unsigned index);
  char *(*copyName)(void *mirror, uint64_t type);
  int (*projectCase)(void *mirror, uint64_t address, uint64_t type, int *index); ///< NULL in libraries before 5.3
};

#endif
