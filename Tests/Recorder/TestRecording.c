// A recording of the test's own process.

#include "TestRecording.h"

#include "hooks/startup.h"
#include "record/trace_file.h"

#include "RecorderTest.h"

#include <string.h>
#include <unistd.h>

void begin_recording(struct recording *recording, char *setting) {
  strcpy(recording->directory, "/tmp/recorder-tests.XXXXXX");
  EXPECT(mkdtemp(recording->directory));
  snprintf(recording->output, sizeof recording->output, "LEAKTRACE_OUTPUT=%s/t", recording->directory);
  char *environment[] = {recording->output, "LEAKTRACE_SNAPSHOTS=off", setting, NULL};
  lt_process_load(0, NULL, environment);
  EXPECT(lt_trace_is_writable());
}

void remove_recording(const struct recording *recording) {
  const char *path = recording->output + sizeof "LEAKTRACE_OUTPUT=" - 1;
  char live[160];
  snprintf(live, sizeof live, "%s" LT_LIVE_SUFFIX, path);
  unlink(path);
  unlink(live);
  rmdir(recording->directory);
}
