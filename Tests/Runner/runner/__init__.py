"""Runs the built tests, a process for each suite, and says how long each took. scripts/test calls it."""
