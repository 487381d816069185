#include "../FuzzInput.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  recorder_fuzz_input(bytes, size);
  return 0;
}
