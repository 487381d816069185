#ifndef LEAKTRACE_BEGINNING_H
#define LEAKTRACE_BEGINNING_H

#include <stdbool.h>

/// Begins the recording by `lt_settings`, and puts the hooks where no name leads to them. `isJoined`: the program was
/// running before. False, after saying why, when that cannot be.
bool lt_begin_recording(bool isJoined);

#endif
