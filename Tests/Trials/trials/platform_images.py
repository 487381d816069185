"""Checks whether a recording and its image are complete."""

# Counts that are not faults: blocks from before the recording, objects of the runtime, and stacks that end in code
# without unwind information.
ORDINARY = ("inheritedFrees", "unknownObjects", "stackIncomplete")


def complaints_on_image(report):
    """Returns complaints about the image and the events before it."""
    snapshot = report.get("snapshot")
    if not snapshot:
        return [f"no image: {report.get('findingsUnavailable')}"]
    complaints = []
    if not snapshot["isWhole"]:
        complaints.append("the image is not whole")
    if not snapshot["isFrozen"]:
        complaints.append("threads ran during the image")
    for trace in report["traces"]:
        counts = {**trace["drops"], **trace["mismatches"]}
        counts = {name: number for name, number in counts.items() if number and name not in ORDINARY}
        complaints += [f"{name}: {number}" for name, number in counts.items()]
        complaints += [f"warning: {text}" for text in trace["warnings"]]
    return complaints
