#include "record/definitions.h"

#include "RecorderTest.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

/// Two libraries that are loaded and unloaded. The build of the tests defines their paths.
static const char *const libraries[] = {RECORDER_TEST_LIBRARIES "/libfirst.so",
                                        RECORDER_TEST_LIBRARIES "/libsecond.so"};

static _Atomic bool isOver;
static _Atomic uint64_t wrong, looks;
static int global;

static void *look(void *address) {
  while (!atomic_load(&isOver)) {
    // No image is ever at this address. The image of `global` is always loaded.
    if (lt_image_list_covers((uintptr_t)address)) atomic_fetch_add(&wrong, 1);
    atomic_fetch_add_explicit(&looks, 1, memory_order_relaxed);
    if (!lt_image_list_covers((uintptr_t)&global) || !lt_image_list_has_both((uintptr_t)&global, (uintptr_t)look))
      atomic_fetch_add(&wrong, 1);
  }
  return NULL;
}

TEST(looks_during_changes, "Whether an image is at an address is answered rightly while others come and go") {
  static struct lt_thread thread; // without a buffer: its definitions are discarded
  lt_image_list_refresh(&thread);
  void *memory = malloc(64);
  pthread_t looking[2];
  for (int i = 0; i < 2; i++) EXPECT(pthread_create(&looking[i], NULL, look, memory) == 0);
  for (int i = 0; i < 400; i++) {
    void *first = dlopen(libraries[0], RTLD_NOW);
    lt_image_list_refresh(&thread);
    void *second = dlopen(libraries[1], RTLD_NOW);
    EXPECT(first && second);
    lt_image_list_refresh(&thread);
    EXPECT(lt_image_list_covers((uintptr_t)dlsym(second, "recorder_test_second")));
    // The earlier library is unloaded first. The list may close the gap or leave it.
    uintptr_t gone = (uintptr_t)dlsym(first, "recorder_test_first");
    EXPECT(lt_image_list_covers(gone));
    dlclose(first);
    lt_image_list_refresh(&thread);
    EXPECT(!lt_image_list_covers(gone));
    for (uint64_t seen = atomic_load(&looks); atomic_load(&looks) < seen + 4;) sched_yield();
    EXPECT(lt_image_list_covers((uintptr_t)dlsym(second, "recorder_test_second")));
    dlclose(second);
    lt_image_list_refresh(&thread);
  }
  atomic_store(&isOver, true);
  for (int i = 0; i < 2; i++) pthread_join(looking[i], NULL);
  free(memory);
  EXPECT(wrong == 0);
}
