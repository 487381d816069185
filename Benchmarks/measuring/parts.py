"""What is said of every part of the results: when, how and on what it was measured."""

PARTS = ("recording", "lengths", "threads", "server", "billion", "snapshots", "comparing", "client")


def heading_lines(part):
    """One line below a part's heading."""
    return (f"{part['date']}, `scripts/bench {part['arguments']}`".rstrip() + f", leaktrace {part['machine']['leaktrace'] or 'of unknown version'}. "
            "Medians, with the smallest and largest.")
