#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/guide/ci/kubernetes.yaml is what Kubernetes takes, and its pods end in order.

usage: kubernetes_test.py SOURCE_DIR BUILD_DIR

It is checked against the excerpt of Kubernetes' schema in kubernetes_v1.29.json and against the
rules of Jobs that no schema has. Manifests with a mistake each are refused. Its command is run as
the first process of a pod is where this user may, told to end, and has to end in order within the
time that the pod has. The exit code is 77 where Python has no YAML.
"""

import copy
import json
import pathlib
import re
import sys
import tempfile

import container
import container_test
import plan_check

try:
    import yaml
except ImportError:
    print("skipped: no module yaml: install python3-yaml")
    sys.exit(77)

TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}
QUANTITY = re.compile(r"\d+(\.\d+)?([KMGTPE]i|[mkMGTPE])?")
NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


class Wrong(Exception):
    """A manifest that Kubernetes would refuse."""


def check_value(where, value, wanted, schema):
    if "$ref" in wanted:
        return check_object(where, value, wanted["$ref"], schema)
    kind = wanted["type"]
    if kind == "quantity":
        if not QUANTITY.fullmatch(str(value)):
            raise Wrong(f"{where}: '{value}' is not a quantity")
    elif not isinstance(value, TYPES[kind]) or (kind == "integer" and isinstance(value, bool)):
        raise Wrong(f"{where}: {value!r} is not of type {kind}")
    if value not in wanted.get("enum", [value]):
        raise Wrong(f"{where}: '{value}' is none of {', '.join(wanted['enum'])}")
    if kind == "array":
        for i, item in enumerate(value):
            check_value(f"{where}[{i}]", item, wanted["items"], schema)
    if kind == "object":
        for key, item in value.items():
            check_value(f"{where}.{key}", item, wanted["values"], schema)
    return None


def check_object(where, value, name, schema):
    if not isinstance(value, dict):
        raise Wrong(f"{where}: {value!r} is not a {name}")
    definition = schema["definitions"][name]
    for key in definition["required"]:
        if key not in value:
            raise Wrong(f"{where}: {name} has no {key}")
    for key, part in value.items():
        if key not in definition["properties"]:
            raise Wrong(f"{where}: unknown field {key} of {name}")
        check_value(f"{where}.{key}", part, definition["properties"][key], schema)


def check_rule(rule, containers):
    """Of a policy for pods that fail."""
    codes = rule.get("onExitCodes")
    if (codes is None) == ("onPodConditions" not in rule):
        raise Wrong("a rule has either onExitCodes or onPodConditions")
    if codes is None:
        return
    if codes.get("containerName", containers[0]) not in containers:
        raise Wrong(f"there is no container {codes['containerName']}")
    values = codes["values"]
    if not values or values != sorted(set(values)) or max(values) > 255:
        raise Wrong("exit codes are ordered, different, and at most 255")
    if codes["operator"] == "In" and 0 in values:
        raise Wrong("exit code 0 is not a failure")


def check_job(job, claims):
    """What the server checks besides."""
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    if pod.get("restartPolicy") not in ("Never", "OnFailure"):
        raise Wrong("the restart policy of a Job is Never or OnFailure")
    if spec.get("completionMode") == "Indexed" and None in (spec.get("completions"),
                                                            spec.get("parallelism")):
        raise Wrong("an Indexed Job has completions and parallelism")
    if "backoffLimitPerIndex" in spec and spec.get("completionMode") != "Indexed":
        raise Wrong("backoffLimitPerIndex is for Indexed Jobs")
    for name in ("backoffLimitPerIndex", "podFailurePolicy"):
        if name in spec and pod["restartPolicy"] != "Never":
            raise Wrong(f"{name} needs the restart policy Never")
    for rule in spec.get("podFailurePolicy", {}).get("rules", []):
        check_rule(rule, [box["name"] for box in pod["containers"]])
    for number in ("backoffLimitPerIndex", "completions", "parallelism"):
        if spec.get(number, 0) < 0:
            raise Wrong(f"{number} is negative")
    volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
    for box in pod["containers"]:
        for mount in box.get("volumeMounts", []):
            if mount["name"] not in volumes:
                raise Wrong(f"there is no volume {mount['name']}")
    for volume in volumes.values():
        claim = volume.get("persistentVolumeClaim")
        if claim and claim["claimName"] not in claims:
            raise Wrong(f"there is no claim {claim['claimName']}")
        if len(volume) != 2:
            raise Wrong(f"volume {volume['name']} is of no kind, or of several")


def check(manifest, schema):
    claims = {each["metadata"].get("name") for each in manifest
              if each.get("kind") == "PersistentVolumeClaim"}
    for each in manifest:
        kind = f"{each.get('apiVersion')} {each.get('kind')}"
        if kind not in schema["kinds"]:
            raise Wrong(f"unknown kind {kind}")
        check_object(each["kind"], each, schema["kinds"][kind], schema)
        if not NAME.fullmatch(each["metadata"].get("name", "")):
            raise Wrong(f"{each['kind']}: {each['metadata'].get('name')} is not a name")
        if each["kind"] == "Job":
            check_job(each, claims)


def job_of(manifest):
    return next(each for each in manifest if each["kind"] == "Job")


def pod_of(manifest):
    return job_of(manifest)["spec"]["template"]["spec"]


def box_of(manifest):
    return pod_of(manifest)["containers"][0]


def codes_of(manifest):
    rules = job_of(manifest)["spec"]["podFailurePolicy"]["rules"]
    return next(rule["onExitCodes"] for rule in rules if "onExitCodes" in rule)


MISTAKES = {
    "unknown field backofLimitPerIndex": lambda m: job_of(m)["spec"].update(backofLimitPerIndex=1),
    "'indexed' is none of": lambda m: job_of(m)["spec"].update(completionMode="indexed"),
    "needs the restart policy Never": lambda m: pod_of(m).update(restartPolicy="OnFailure"),
    "is Never or OnFailure": lambda m: pod_of(m).pop("restartPolicy"),
    "is for Indexed Jobs": lambda m: job_of(m)["spec"].update(completionMode="NonIndexed"),
    "has completions": lambda m: job_of(m)["spec"].pop("completions"),
    "has no template": lambda m: job_of(m)["spec"].pop("template"),
    "has no containers": lambda m: pod_of(m).pop("containers"),
    "'4' is not of type integer": lambda m: job_of(m)["spec"].update(completions="4"),
    "True is not of type integer": lambda m: job_of(m)["spec"].update(completions=True),
    "2 is not of type string": lambda m: box_of(m).update(args=["--jobs", 2]),
    "is not a quantity": lambda m: box_of(m)["resources"]["limits"].update(cpu="x"),
    "there is no volume": lambda m: pod_of(m)["volumes"][0].update(name="other"),
    "there is no claim": lambda m: m.pop(0),
    "there is no container": lambda m: codes_of(m).update(containerName="workers"),
    "exit codes are ordered": lambda m: codes_of(m).update(values=[130, 1]),
    "exit code 0 is not": lambda m: codes_of(m).update(values=[0, 130]),
    "a rule has either": lambda m: job_of(m)["spec"]["podFailurePolicy"]["rules"][0].pop(
        "onPodConditions"),
    "unknown kind batch/v2 Job": lambda m: job_of(m).update(apiVersion="batch/v2"),
    "is not a name": lambda m: job_of(m)["metadata"].update(name="Fermata Job"),
}


def check_mistakes(manifest, schema):
    for message, make in MISTAKES.items():
        wrong = copy.deepcopy(manifest)
        make(wrong)
        try:
            check(wrong, schema)
        except Wrong as error:
            assert message in str(error), f"'{error}' instead of '{message}'"
        else:
            raise AssertionError(f"'{message}' was not noticed")


def check_pod(manifest, source, build):
    pod = pod_of(manifest)
    assert codes_of(manifest)["values"] == [container_test.TOLD], "who is told begins again"
    box = box_of(manifest)
    text = (source / "packaging/container/Dockerfile").read_text()
    entry = container.entry_point(text)
    assert pod["securityContext"]["fsGroup"] == int(container.last(text, "USER").split(":")[1])
    assert entry[-1] in [mount["mountPath"] for mount in box["volumeMounts"]], box
    with tempfile.TemporaryDirectory() as folder:
        plan = plan_check.Plan(build / "fermata", {"PATH": "/usr/bin:/bin"},
                               pathlib.Path(folder) / "plan")
        plan.make(build / "tests/fleet/fleet_specimen", 100_000)
        plan.environment["JOB_COMPLETION_INDEX"] = "1"  # As Kubernetes sets it.
        command = [plan.tool, *entry[1:-1], str(plan.root), *box["args"]]
        container_test.ends_in_order(plan, command, pod["terminationGracePeriodSeconds"],
                                     container_test.namespace_of_pids())


def main(source, build):
    schema = json.loads((pathlib.Path(__file__).parent / "kubernetes_v1.29.json").read_text())
    path = source / "docs/guide/ci/kubernetes.yaml"
    manifest = list(yaml.safe_load_all(path.read_text()))
    check(manifest, schema)
    check_mistakes(manifest, schema)
    check_pod(manifest, source, build)
    print(f"kubernetes: the manifest keeps the schema of v1.29, {len(MISTAKES)} mistakes are "
          "refused, its worker ends in order")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
