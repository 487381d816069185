#include "sampling/sampling_state.h"

_Atomic bool lt_is_sampling;
