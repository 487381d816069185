"""A finding in a report of `leaktrace analyze --format json`."""

import fnmatch

# All other verdicts are proofs. Used if a report has no `certainty`.
SUSPICIONS = ("outlived", "accumulating")
PROOF, SUSPICION = "proven", "suspected"


class Finding:
    """One finding of a report."""

    def __init__(self, values):
        self.verdict = values["verdict"]
        self.fingerprint = values.get("fingerprint", "")
        self.instances = values["instances"]
        self.retained_bytes = values.get("retainedBytes", 0)
        self.is_library = bool(values.get("library"))
        self.is_hidden = bool(values.get("hidden"))
        # Reports list weak suspicions only on request; otherwise they show their number.
        self.is_weak = values.get("strength") == "weak"
        self.values = values
        said = values.get("certainty")
        stated = (values.get("outliving") or {}).get("statement")
        self.certainty = said or (SUSPICION if self.verdict in SUSPICIONS and not stated else PROOF)

    @property
    def path(self):
        return self.values.get("path") or []

    @property
    def _outliving(self):
        return self.values.get("outliving") or {}

    def _step(self, step):
        if step.get("kind") == "closure":
            return step.get("closure") or "closure"
        return step.get("type") or step.get("kind") or "?"

    @property
    def subject(self):
        """The types that the finding is about, in one line without addresses or line numbers."""
        if not self.path:
            return ""
        if self.values.get("isCycle"):
            return " ⇄ ".join(self._step(step) for step in self.path)
        # For these verdicts, the path begins at a root and ends at the object.
        return self._step(self.path[-1] if self._outliving or self.verdict == "deinitialised" else self.path[0])

    @property
    def holder(self):
        return self._outliving.get("holder") or ""

    @property
    def place(self):
        """The allocating function, with file and line, of the first step of the path that has one."""
        for step in self.path:
            if step.get("function"):
                line = f":{step['line']}" if step.get("line") else ""
                return f"{step['function']}" + (
                    f" ({step['file'].rsplit('/', 1)[-1]}{line})" if step.get("file") else ""
                )
        return ""

    def texts(self):
        """The texts that patterns are matched with: types, functions, files, references and the holder."""
        found = {self.subject, self.holder, self._outliving.get("root") or "", self.values.get("endedType") or ""}
        for step in self.path:
            found |= {
                step.get(name) or "" for name in ("type", "qualifiedType", "function", "file", "closure", "closureFile")
            }
            found.add((step.get("edge") or {}).get("name") or "")
        for moment in ("allocatedAt", "freedAt", "usedAt"):
            for frame in (self.values.get(moment) or {}).get("frames") or []:
                found |= {frame.get("function") or "", frame.get("file") or ""}
        found.discard("")
        return found

    def mentions(self, pattern):
        return any(fnmatch.fnmatchcase(text, pattern) for text in self.texts())

    def evidence(self):
        """The holder of a suspicion and its number of ended siblings; empty for other findings."""
        if not self._outliving:
            return ""
        births, deaths = self._outliving.get("births"), self._outliving.get("deaths")
        return f"held by {self.holder or self._outliving.get('root')}; {deaths} of {births} ended"
