"""Compares the findings of several runs of one program. They should be equal."""

import collections


def _counted(values):
    """Returns the values with their numbers, the most frequent first."""
    return ", ".join(f"{value} in {count}" for value, count in collections.Counter(values).most_common())


def _shape(finding):
    return finding.verdict, finding.certainty, finding.is_library


def _named(shape):
    verdict, certainty, is_library = shape
    return f"{verdict} ({certainty}{', a library’s' if is_library else ''})"


def flips(runs):
    """Returns a sentence for each difference. `runs` has the findings of each run.

    If all runs have the same number of a verdict, its types, counts, fingerprints and holders are compared, too.
    """
    found = []
    shapes = [collections.Counter(map(_shape, run)) for run in runs]
    for shape in sorted({shape for counter in shapes for shape in counter}):
        numbers = [counter[shape] for counter in shapes]
        if len(set(numbers)) > 1:
            found.append(
                f"verdict {_named(shape)}: {_counted(f'{number} findings' for number in numbers)} runs, {_titles(runs, shape)}"
            )
            continue
        chosen = [[finding for finding in run if _shape(finding) == shape] for run in runs]
        for field, read in (
            ("type", lambda each: each.subject),
            ("count", lambda each: (each.subject, each.instances)),
            ("fingerprint", lambda each: (each.subject, each.fingerprint)),
            ("holder", lambda each: (each.subject, each.holder)),
        ):
            values = [tuple(sorted(map(read, findings))) for findings in chosen]
            if len(set(values)) > 1:
                found.append(f"{field} of {_named(shape)}: {_counted(map(_difference(values), values))} runs")
                if field == "type":
                    break
    return found


def _titles(runs, shape):
    titles = collections.Counter(finding.subject for run in runs for finding in run if _shape(finding) == shape)
    return "; ".join(title for title, _ in titles.most_common(3))


def _difference(values):
    """Returns a function that shows a value without the parts that all values have."""
    common = set(values[0]).intersection(*values[1:])

    def shown(value):
        rest = [each for each in value if each not in common]
        return "; ".join(" ".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in rest) or "none"

    return shown


def unsteady(runs):
    """Returns a sentence for each fingerprint that some runs lack. It has the titles of the findings and the end of one
    path. Titles and counts may differ for one fingerprint, so this does not compare them."""
    found = collections.defaultdict(list)
    for run in runs:
        for fingerprint, finding in {finding.fingerprint: finding for finding in run}.items():
            found[fingerprint].append(finding)
    lines = []
    for fingerprint, findings in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(findings) < len(runs):
            titles = sorted({f"{finding.verdict} {finding.subject}" for finding in findings})
            path = " → ".join(
                f"{step.get('type') or step.get('kind')} ({step.get('function') or ''})"
                for step in findings[0].path[-4:]
            )
            lines.append(
                f"fingerprint {fingerprint} in {len(findings)} of {len(runs)} runs: {'; '.join(titles)}; {path}"
            )
    return lines
