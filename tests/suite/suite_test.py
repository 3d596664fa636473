#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the bundled suite say the same however its entries are shared between processes?

usage: suite_test.py FERMATA_SUITE
"""

import re
import subprocess
import sys
import unittest

ROW = re.compile(r"^ {2}(\w+) +(\d+) schedules, +(\d+) different$", re.M)
ENTRIES = ["timers", "locks", "account", "handover"]


def run(*arguments):
    return subprocess.run([SUITE, *arguments], capture_output=True, text=True, check=False)


class SuiteTest(unittest.TestCase):
    def test_rows_are_those_of_each_entry_alone_in_the_order_asked_for(self):
        alone = [ROW.findall(run("--only", name, "--runs", "30").stdout)[0] for name in ENTRIES]
        together = run("--only", ",".join(ENTRIES), "--runs", "30")
        self.assertEqual(ROW.findall(together.stdout), alone)
        self.assertIn(f"\nschedules             {30 * len(ENTRIES)}\n", together.stdout)
        self.assertEqual(together.returncode, 0, together.stderr)
        self.assertNotIn("controls", together.stdout, "only asked for with everything")

    def test_two_runs_say_the_same(self):
        said = [re.sub(r"schedules/s.*", "", run("--runs", "5").stdout) for _ in range(2)]
        self.assertEqual(said[0], said[1])
        self.assertEqual([row[0] for row in ROW.findall(said[0])],
                         run("--list").stdout.splitlines())
        self.assertRegex(said[0], r"\ncontrols +\d{2,} \(wrong on purpose, each told in time\)\n")

    def test_an_entry_that_is_not_there_is_refused(self):
        refused = run("--only", "timers,nothing")
        self.assertEqual(refused.returncode, 1)
        self.assertEqual(refused.stderr, "fermata_suite: there is no 'nothing'\n")


if __name__ == "__main__":
    SUITE = sys.argv.pop(1)
    unittest.main()
