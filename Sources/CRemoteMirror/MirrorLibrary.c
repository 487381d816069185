// Loads the remote mirror library.

#define _GNU_SOURCE
#include "MirrorLibrary.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *lt_mirror_file_defining(const char *function) {
  Dl_info info;
  void *address = dlsym(RTLD_DEFAULT, function);
  return address && dladdr(address, &info) && info.dli_fname ? strdup(info.dli_fname) : NULL;
}

const struct lt_mirror_library *lt_mirror_load(const char *path, char **reason) {
  *reason = NULL;
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *error = dlerror();
    *reason = strdup(error ? error : "cannot be loaded");
    return NULL;
  }
  struct lt_mirror_library found;
  const struct {
    void *slot;
    const char *name;
  } functions[] = {
      {&found.create, "swift_reflection_createReflectionContext"},
      {&found.addImage, "swift_reflection_addImage"},
      {&found.infoForMetadata, "swift_reflection_infoForMetadata"},
      {&found.childOfMetadata, "swift_reflection_childOfMetadata"},
      {&found.infoForInstance, "swift_reflection_infoForInstance"},
      {&found.childOfInstance, "swift_reflection_childOfInstance"},
      {&found.infoForType, "swift_reflection_infoForTypeRef"},
      {&found.childOfType, "swift_reflection_childOfTypeRef"},
      {&found.typeForMetadata, "swift_reflection_typeRefForMetadata"},
      {&found.argumentCount, "swift_reflection_genericArgumentCountOfTypeRef"},
      {&found.argument, "swift_reflection_genericArgumentOfTypeRef"},
      {&found.copyName, "swift_reflection_copyDemangledNameForTypeRef"},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *function = dlsym(handle, functions[i].name);
    if (!function) {
      char text[160];
      snprintf(text, sizeof text, "has no function %s", functions[i].name);
      *reason = strdup(text);
      dlclose(handle);
      return NULL;
    }
    memcpy(functions[i].slot, &function, sizeof function);
  }
  // Libraries before Swift 5.3 cannot determine cases. Everything else works with them.
  void *projectCase = dlsym(handle, "swift_reflection_projectEnumValue");
  memcpy(&found.projectCase, &projectCase, sizeof projectCase);
  // The library is never unloaded, since a child may be using it.
  struct lt_mirror_library *library = malloc(sizeof *library);
  if (library) *library = found;
  return library;
}

void lt_mirror_release(const struct lt_mirror_library *library) { free((void *)(uintptr_t)library); }
