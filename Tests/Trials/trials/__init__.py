"""Trials of leaktrace on programs that were not written to test it, and of its steadiness. Started by scripts/accuracy
and scripts/stability."""
