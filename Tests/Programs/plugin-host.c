// Loads and unloads the shared objects given, 50 times in turn, calling each.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int calls = 0;
  for (int round = 0; round < 50; round++) {
    for (int i = 1; i < argc; i++) {
      void *handle = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
      if (handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
      }
      void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(handle, "pluginAllocate");
      void *block = allocate(100 + (size_t)i);
      if (dlclose(handle) != 0) return 1;
      free(block);
      calls++;
    }
  }
  printf("%d calls\n", calls);
  return 0;
}
