#include "process/environment.h"

#include "RecorderTest.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static void read_output(const char *value) {
  char *entry = malloc(strlen(value) + sizeof "LEAKTRACE_OUTPUT=");
  strcpy(entry, "LEAKTRACE_OUTPUT=");
  strcat(entry, value);
  char *environment[] = {entry, NULL};
  lt_environment_read(environment);
  free(entry);
}

TEST(outputs_of_any_length,
     "An output's path, of any length, is the whole of it from the root, or none, with a reason") {
  char directory[PATH_MAX];
  EXPECT(getcwd(directory, sizeof directory));
  size_t most = sizeof lt_settings.output - 1 - (strlen(directory) == 1 ? 1 : strlen(directory) + 1);
  char *name = malloc(3 * PATH_MAX);
  for (size_t length = 1; length < 3 * PATH_MAX - 1; length++) {
    memset(name, 'x', length);
    name[length] = 0;
    read_output(name);
    EXPECT(strlen(lt_settings.output) < sizeof lt_settings.output);
    if (length <= most) {
      EXPECT(lt_settings.outputError == 0 && lt_settings.output[0] == '/');
      EXPECT(strcmp(lt_settings.output + strlen(lt_settings.output) - length, name) == 0);
    } else {
      EXPECT(lt_settings.outputError == -ENAMETOOLONG && lt_settings.output[0] == 0);
    }
    EXPECT(lt_settings.messages[0] == 0);
    name[0] = '/';
    read_output(name);
    EXPECT(length < sizeof lt_settings.output ? strcmp(lt_settings.output, name) == 0
                                              : lt_settings.outputError == -ENAMETOOLONG);
  }
  free(name);
}

/// Reads the settings from `entries`, and expects that a child gets the same entries in the same order. A child that
/// reads its entries has the same settings.
static void expect_handed_on(char *const entries[], size_t count) {
  char preload[] = "LD_PRELOAD=/opt/libleaktrace.so", finished[] = "LEAKTRACE_FINISHED=/nonexistent/finished.trace";
  char *environment[LT_SETTING_COUNT + 2] = {preload};
  EXPECT(count <= LT_SETTING_COUNT);
  memcpy(environment + 1, entries, count * sizeof *entries);
  lt_environment_read(environment);
  struct lt_settings read = lt_settings;

  char **child = lt_environment_for_child(environment, true, strchr(finished, '=') + 1);
  EXPECT(child != environment);
  for (size_t i = 0; i < count + 1; i++) EXPECT(strcmp(child[i], environment[i]) == 0);
  EXPECT(strcmp(child[count + 1], finished) == 0 && !child[count + 2]);

  lt_environment_read(child);
  EXPECT(memcmp(&lt_settings, &read, sizeof read) == 0);
  EXPECT(strcmp(child[count + 1], "LEAKTRACE_FINISHED=") == 0);
  lt_environment_free(child, environment);
}

static bool has_setting(char *const entries[], size_t count, const char *name) {
  size_t length = strlen(name);
  for (size_t i = 0; i < count; i++)
    if (strncmp(entries[i], name, length) == 0 && entries[i][length] == '=') return true;
  return false;
}

TEST(settings_of_children, "A child gets every setting that the recorder reads, and reads the same values") {
  // No value is the usual one. The recorder has no trace limit in light mode.
  char *light[] = {
      "LEAKTRACE_OUTPUT=/t/%n.%p.trace",
      "LEAKTRACE_MESSAGES=/m",
      "LEAKTRACE_SESSION=ab12",
      "LEAKTRACE_DEPTH=300",
      "LEAKTRACE_ARC=off",
      "LEAKTRACE_MODE=light",
      "LEAKTRACE_SAMPLE=77",
      "LEAKTRACE_SAMPLE_FIRST=5",
      "LEAKTRACE_SNAPSHOT_SECONDS=60",
      "LEAKTRACE_PROFILE_SECONDS=70",
      "LEAKTRACE_SNAPSHOT_BYTES=8000",
      "LEAKTRACE_KEEP_IMAGES=9",
      "LEAKTRACE_FOLLOW=1",
      "LEAKTRACE_PAUSED=1",
      "LEAKTRACE_QUIET=1",
      "LEAKTRACE_VERIFY_STACKS=1",
      "LEAKTRACE_SNAPSHOTS=off",
      "LEAKTRACE_SNAPSHOT_SIGNAL=10",
      "LEAKTRACE_ROUND_SIGNAL=12",
  };
  char *limited[] = {
      "LEAKTRACE_OUTPUT=/t",         "LEAKTRACE_SESSION=ffffffffffffffff",
      "LEAKTRACE_DEPTH=500",         "LEAKTRACE_ARC=counts",
      "LEAKTRACE_LIMIT=3000000",     "LEAKTRACE_SAMPLE=78",
      "LEAKTRACE_SAMPLE_FIRST=0",    "LEAKTRACE_SNAPSHOT_SECONDS=0",
      "LEAKTRACE_PROFILE_SECONDS=0", "LEAKTRACE_SNAPSHOT_BYTES=80",
      "LEAKTRACE_KEEP_IMAGES=0",     "LEAKTRACE_FOLLOW=1",
  };
  char *full[] = {
      "LEAKTRACE_OUTPUT=/t",  "LEAKTRACE_SESSION=1", "LEAKTRACE_DEPTH=65536",
      "LEAKTRACE_ARC=stacks", "LEAKTRACE_FOLLOW=1",
  };
  enum { LIGHT = sizeof light / sizeof *light, LIMITED = sizeof limited / sizeof *limited };
  expect_handed_on(light, LIGHT);
  expect_handed_on(limited, LIMITED);
  expect_handed_on(full, sizeof full / sizeof *full);

  for (enum lt_setting setting = 0; setting < LT_SETTING_COUNT; setting++) {
    const char *name = lt_row_of_setting(setting).name;
    EXPECT(has_setting(light, LIGHT, name) || has_setting(limited, LIMITED, name) || setting == LT_SETTING_FINISHED);
  }
}

TEST(longest_settings, "The longest values of all settings fit into a child's environment") {
  char output[4128] = "LEAKTRACE_OUTPUT=/", messages[4128] = "LEAKTRACE_MESSAGES=/", finished[4096];
  memset(output + strlen(output), 'o', sizeof lt_settings.output - 2);
  memset(messages + strlen(messages), 'm', sizeof lt_settings.messages - 2);
  memset(finished, 'f', sizeof finished - 1);
  finished[sizeof finished - 1] = 0;
  char *environment[] = {
      output,
      messages,
      "LD_PRELOAD=/opt/libleaktrace.so",
      "LEAKTRACE_SESSION=ffffffffffffffff",
      "LEAKTRACE_DEPTH=1048576",
      "LEAKTRACE_LIMIT=18446744073709551615",
      "LEAKTRACE_SAMPLE=1099511627776",
      "LEAKTRACE_SAMPLE_FIRST=16384",
      "LEAKTRACE_SNAPSHOT_SECONDS=18446744073",
      "LEAKTRACE_PROFILE_SECONDS=18446744073",
      "LEAKTRACE_SNAPSHOT_BYTES=18446744073709551615",
      "LEAKTRACE_KEEP_IMAGES=4096",
      "LEAKTRACE_FOLLOW=1",
      "LEAKTRACE_PAUSED=1",
      "LEAKTRACE_QUIET=1",
      "LEAKTRACE_VERIFY_STACKS=1",
      "LEAKTRACE_SNAPSHOTS=off",
      "LEAKTRACE_SNAPSHOT_SIGNAL=64",
      "LEAKTRACE_ROUND_SIGNAL=64",
      NULL,
  };
  lt_environment_read(environment);
  EXPECT(strlen(lt_settings.output) == sizeof lt_settings.output - 1);
  EXPECT(strlen(lt_settings.messages) == sizeof lt_settings.messages - 1);
  // The recorder checks that the texts fit into the block. A child gets LD_PRELOAD even if its parent removed it.
  char *none[] = {NULL};
  char **child = lt_environment_for_child(none, true, finished);
  size_t count = 0;
  while (child[count]) count++;
  // All settings except the mode, and LD_PRELOAD.
  EXPECT(count == LT_SETTING_COUNT);
  lt_environment_free(child, none);
}
