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
