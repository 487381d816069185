"""Manual pages from what `leaktrace --experimental-dump-help` prints."""
