// A recorder of an earlier version: it knows heap images and nothing else.

int leaktrace_snapshot(const char *label);
int leaktrace_snapshot(const char *label) { return label ? -1 : -2; }
