"""Tries leaktrace on many programs: accuracy, stability, survival, platforms. Scripts in scripts/ start the modules."""
