"""Validates SARIF logs, JUnit, code quality and speedscope files against schemas, and the structure of heap snapshots.

It also validates actions of GitHub and jobs of GitLab, as JSON.

Usage: validate.py SARIF-SCHEMA JUNIT-SCHEMA ACTION-SCHEMA GITLAB-SCHEMA FILE...

Exit status: 0 if all files are valid, 1 if one is not, 2 for files of other kinds.
"""

import json
import os
import sys

import heap_snapshot
import jsonschema
import xmlschema


def sarif_problems(validator, path):
    with open(path, encoding="utf-8") as file:
        # Neither duplicate names nor numbers that are none are JSON that everybody reads alike.
        log = json.load(file, object_pairs_hook=unique, parse_constant=refuse)
    for error in validator.iter_errors(log):
        yield f"{error.json_path}: {error.message[:300]}"
    # What the specification asks for and the schema cannot say.
    for run in log.get("runs", []):
        rules = run["tool"]["driver"].get("rules", [])
        for index, result in enumerate(run.get("results", [])):
            rule = result.get("ruleIndex", -1)
            if not 0 <= rule < len(rules) or rules[rule]["id"] != result.get("ruleId"):
                yield f"result {index}: ruleIndex {rule} is not that of {result.get('ruleId')}"
            bases = run.get("originalUriBaseIds", {})
            for location in result.get("locations", []) + result.get("relatedLocations", []):
                base = location.get("physicalLocation", {}).get("artifactLocation", {}).get("uriBaseId")
                if base is not None and base not in bases:
                    yield f"result {index}: uriBaseId {base} is not defined"


def unique(pairs):
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError(f"a name stands twice in {names}")
    return dict(pairs)


def refuse(constant):
    raise ValueError(f"{constant} is no JSON number")


def junit_problems(schema, path):
    for error in schema.iter_errors(path):
        yield f"{error.path}: {error.reason}"
    # Counts are strings to the schema.
    root = xmlschema.XMLResource(path).root
    for suite in root.iter("testsuite"):
        tests = suite.findall("testcase")
        counts = {
            "tests": len(tests),
            "failures": sum(test.find("failure") is not None for test in tests),
            "errors": sum(test.find("error") is not None for test in tests),
            "skipped": sum(test.find("skipped") is not None for test in tests),
        }
        for name, count in counts.items():
            if suite.get(name, "0") != str(count):
                yield f"{name} is {suite.get(name)}, but there are {count}"


def speedscope_problems(validator, path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file, object_pairs_hook=unique, parse_constant=refuse)
    yield from (f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(document))
    frames = len(document["shared"]["frames"])
    for profile in document["profiles"]:
        if len(profile["samples"]) != len(profile["weights"]):
            yield f"{profile['name']}: not as many weights as samples"
        if any(frame >= frames for stack in profile["samples"] for frame in stack):
            yield f"{profile['name']}: a frame that is not there"
        if profile["endValue"] - profile["startValue"] != sum(profile["weights"]):
            yield f"{profile['name']}: the weights do not add up to its end"


def codequality_problems(validator, path):
    with open(path, encoding="utf-8") as file:
        issues = json.load(file, object_pairs_hook=unique, parse_constant=refuse)
    yield from (f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(issues))
    prints = [issue.get("fingerprint") for issue in issues]
    if len(prints) != len(set(prints)):
        yield "a fingerprint stands twice; GitLab shows only its first issue"


def plain_problems(validator, path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file, object_pairs_hook=unique, parse_constant=refuse)
    yield from (f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(document))


def json_validator(path):
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, format_checker=jsonschema.FormatChecker())


def main(sarif_schema, junit_schema, action_schema, gitlab_schema, *paths):
    validator = json_validator(sarif_schema)
    folder = os.path.dirname(__file__)
    speedscope = json_validator(os.path.join(folder, "speedscope.json"))
    codequality = json_validator(os.path.join(folder, "codequality.json"))
    xsd = xmlschema.XMLSchema(junit_schema)
    plain = {
        ".action.json": json_validator(action_schema),
        ".gitlab-ci.json": json_validator(gitlab_schema),
    }
    problems = 0
    for path in paths:
        if path.endswith(".sarif"):
            found = sarif_problems(validator, path)
        elif path.endswith(".xml"):
            found = junit_problems(xsd, path)
        elif path.endswith(".speedscope.json"):
            found = speedscope_problems(speedscope, path)
        elif path.endswith(".codequality.json"):
            found = codequality_problems(codequality, path)
        elif kind := next((kind for kind in plain if path.endswith(kind)), None):
            found = plain_problems(plain[kind], path)
        elif path.endswith(".heapsnapshot"):
            with open(path, encoding="utf-8") as file:
                found = list(heap_snapshot.problems(json.load(file, object_pairs_hook=unique, parse_constant=refuse)))
        else:
            print(f"{path}: a kind of file that this does not validate", file=sys.stderr)
            return 2
        try:
            for problem in found:
                problems += 1
                print(f"{path}: {problem}")
        except Exception as error:
            problems += 1
            print(f"{path}: {type(error).__name__}: {error}")
    print(f"{len(paths)} files, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
