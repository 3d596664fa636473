# SPDX-License-Identifier: Apache-2.0
"""A command of gdb for a replay: why a step runs.

    (gdb) fermata why               who woke whom, from this step back to a choice of the run

Needs fermata_replay.py, sourced before, and a record of the run, which `fermata debug TAPE` makes.
"""

import gdb
from __main__ import counted, present_stops, replay

MOST_LINES = 20


class Causes:
    """Who woke whom, by the index of a step."""

    def __init__(self, recording):
        self.recording = recording
        waker, last = {}, {}
        self.picks = {each["step"]: each for each in recording.turns if each.get("pick")}
        self.woken_by, self.before = [], []
        for index, step in enumerate(recording.steps):
            lane = step["lane"]
            self.woken_by.append(waker.pop(lane, None))
            self.before.append(last.get(lane))
            last[lane] = index
            for woken, cause in step.get("wakes", []):
                waker[woken] = (index, cause)

    def first_of_yields(self, index):
        """The step from which on it has only let others run and come back, or was chosen."""
        steps = self.recording.steps
        while index not in self.picks and not self.is_foreign(index):
            before = self.before[index]
            if before is None or steps[before]["end"] != "yields":
                break
            index = before
        return index

    def is_foreign(self, index):
        woken = self.woken_by[index]
        return woken is not None and woken[1] != "yield"

    def message_to(self, index):
        """The last one that came to the machine at this time."""
        step = self.recording.steps[index]
        machine = self.recording.lanes[step["lane"]]["machine"]
        fitting = [
            each for each in self.recording.messages
            if each["to"] == machine and each.get("arrived") == step["at"] and "step" in each
        ]
        return fitting[-1] if fitting else None

    def explain(self, index):
        """Lines, from this step back to where the run was not as in production."""
        lines, begin = [], index
        while index is not None and len(lines) < MOST_LINES - 1:
            if index in self.picks:
                return [*lines, self.choice(index)]
            first = self.first_of_yields(index)
            if first != index:
                lines.append(f"{self.name(index)} runs again after it let others run; so it has "
                             f"since step {counted(self.number(first))}")
                index = first
                continue
            line, index = self.cause(index)
            lines.append(line)
        before = max((each for each in self.picks if each < begin), default=None)
        return lines if before is None else [*lines, f"before that {self.choice(before)}"]

    def choice(self, index):
        text = self.picks[index]["text"]
        return f"{text} in {self.when(index)}, other than in production"

    def number(self, index):
        return self.recording.numbers[index]

    def name(self, index):
        return self.recording.name(self.recording.steps[index]["lane"])

    def when(self, index):
        return f"step {counted(self.number(index))} ({self.recording.time(index)})"

    def cause(self, index):
        """Why the step came to be, and the step that this leads to."""
        name, woken, before = self.name(index), self.woken_by[index], self.before[index]
        if woken is not None:
            by, cause = woken
            verb = {"spawn": "spawned", "cancel": "cancelled", "error": "failed and woke",
                    "shutdown": "was told to stop, which cancelled"}.get(cause, "woke")
            text = f"{name} runs because {self.name(by)} {verb} it in {self.when(by)}"
            return text + self.waited(before), by
        message = self.message_to(index)
        if message is not None:
            sender = self.recording.machines[message["from"]]
            return (f"{name} runs because what '{sender}' sent in {self.when(message['step'])} "
                    f"came: {message['what']}, {message['bytes']} bytes"
                    f"{self.waited(before)}",
                    message["step"])
        if before is not None:
            awaited = self.awaited(before) or "something outside of its machine"
            return f"{name} runs because what it waited for has come: {awaited}", before
        return f"{name} runs because its program begins with it", None

    def waited(self, before):
        awaited = self.awaited(before)
        return awaited and f"; it waited for {awaited}"

    def awaited(self, before):
        """What the step `before` ended with waiting for, and where; empty if with nothing."""
        if before is None or self.recording.steps[before]["end"] != "waits":
            return ""
        step = self.recording.steps[before]
        awaited = step.get("why", "something").split(" spawned at ")[0]
        return f"{awaited} at {step.get('place', 'no known place')}"


class Why(gdb.Command):
    """Says why the coroutine runs now, back to a choice that production would not make."""

    def __init__(self):
        super().__init__("fermata why", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        if replay.recording is None:
            raise gdb.GdbError("fermata why: there is no record of this run; `fermata debug TAPE` "
                               "makes one unless the run ends its process")
        recording = replay.recording
        step = min(present_stops().get("step"), recording.last())
        index = recording.at(step)
        if step <= recording.forgotten:
            raise gdb.GdbError(f"fermata why: the record of this run begins with step "
                               f"{counted(recording.forgotten + 1)}")
        if index is None:
            print(f"{replay.name_of(step)} runs")
            return
        print(replay.name_of(step))
        for line in Causes(recording).explain(index):
            print(f"  {line}")


Why()
