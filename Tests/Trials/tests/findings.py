"""Makes findings for the tests."""

from trials.finding import Finding


def finding(verdict="retainCycle", types=("Screen", "Model"), fingerprint="a1", instances=1, library=False, **more):
    path = [
        {
            "kind": "object",
            "type": name,
            "qualifiedType": f"main.{name}",
            "function": f"make{name}()",
            "file": f"/sources/{name}.swift",
            "line": 3,
        }
        for name in types
    ]
    return Finding(
        {
            "verdict": verdict,
            "fingerprint": fingerprint,
            "instances": instances,
            "library": library,
            "isCycle": verdict == "retainCycle",
            "path": path,
            **more,
        }
    )
