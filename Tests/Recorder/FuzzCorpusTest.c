// The inputs that the fuzzer of scripts/fuzz-recorder keeps.

#include "FuzzInput.h"

#include "RecorderTest.h"

#include <dirent.h>
#include <string.h>
#include <time.h>

TEST(kept_inputs, "What a fuzzer has found is parsed within its bounds, and in no time") {
  DIR *directory = opendir(RECORDER_TEST_CORPUS);
  EXPECT(directory);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(directory));) {
    char path[4096];
    static uint8_t bytes[1 << 16];
    snprintf(path, sizeof path, "%s/%s", RECORDER_TEST_CORPUS, entry->d_name);
    FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
    if (!file) continue;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    clock_t start = clock();
    recorder_fuzz_input(bytes, size);
    EXPECT(clock() - start < 5 * CLOCKS_PER_SEC);
    count++;
  }
  closedir(directory);
  EXPECT(count >= 20);
}

/// A tuple of 16 elements that are all the tuple itself. Its name never ends, and would have 16 to the 8th parts within
/// the depth limit.
TEST(endless_names, "The name of a type that is made of itself ends with the room for it") {
  uint64_t tuple[1 + 3 + 32] = {0};
  uint8_t bytes[1 + sizeof tuple];
  tuple[0] = 0x301;
  tuple[1] = 16;
  for (int i = 0; i < 16; i++) tuple[3 + 2 * i] = FUZZ_ADDRESS_MARK;
  bytes[0] = FUZZ_METADATA;
  memcpy(bytes + 1, tuple, sizeof tuple);
  clock_t start = clock();
  recorder_fuzz_input(bytes, sizeof bytes);
  EXPECT(clock() - start < CLOCKS_PER_SEC);
}
