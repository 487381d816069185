#include "CTraceShim.h"
