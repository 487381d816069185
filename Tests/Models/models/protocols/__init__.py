"""The protocols of the recorder, by topic. Each line of a thread is an access in the named function."""

from . import buffers, files, hooks, images, tables, threads

MODELS = (*hooks.MODELS, *threads.MODELS, *buffers.MODELS, *tables.MODELS, *files.MODELS, *images.MODELS)
