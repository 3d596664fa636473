#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the patches of the repository, mutants and planted bugs, fit the sources to the line?

They are applied for real by nightly passes only, long after whoever moved a line has gone.
"""

import pathlib
import subprocess
import sys


def complaint_about(patch, root):
    """What `patch` says of one that does not fit; empty when it fits."""
    done = subprocess.run(
        ["patch", "-p1", "--dry-run", "--fuzz=0", "--force", "--input", patch],
        cwd=root,
        capture_output=True,
        text=True,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def main(root):
    root = pathlib.Path(root).resolve()
    patches = sorted(root.glob("properties/zoo/*.patch")) + sorted(root.glob("examples/*/*.patch"))
    misfits = 0
    for patch in patches:
        if complaint := complaint_about(patch, root):
            misfits += 1
            print(f"{patch.relative_to(root)}: does not fit\n{complaint}")
    print(f"patches: {len(patches)}, {misfits} do not fit")
    return 1 if misfits or not patches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
