# SPDX-License-Identifier: Apache-2.0
"""Commands of gdb for a replay: to any step of it, and back in time.

    (gdb) fermata goto STEP         to where a coroutine begins to run in that step
    (gdb) fermata goto failure      to where the run fails, or to its end
    (gdb) fermata back [N]          so many steps back

`fermata debug TAPE` opens gdb with them, and with those of fermata_writes.py and fermata_why.py. A
replay does the same each time, so going back is going forward again from the start, in a new
process with the same addresses: a hundred thousand steps take about as long as starting it. Who
stops the run where is fermata_debugger_stops, in the program (sim/audit/debugger_stops.hpp). Needs
fermata.py, sourced before.
"""

import bisect
import contextlib
import json
import re

import gdb

try:
    from __main__ import number, read
except ImportError as error:
    raise gdb.GdbError("fermata_replay.py: source fermata.py before it") from error

STOPS = "fermata_debugger_stops"
STOP_FUNCTION = "fermata_debugger_stop"
STOPS_MAGIC = b"fermata stops\0\0\0"
STOPS_VERSION = 1
# What follows the version, eight bytes each.
STOPS_FIELDS = (
    "active step reason changed_in stop_in stop_before stop_at_failure stop_at_end "
    "stop_by_call watched_address watched_size seen_size"
).split()
NO_REASON, AT_STEP, AT_BOUNDARY, AT_FAILURE, AT_END = range(5)


def place_of_stops():
    try:
        return int(gdb.parse_and_eval(f"(unsigned long)&{STOPS}"))
    except gdb.error as error:
        raise gdb.GdbError(
            f"fermata: no symbol {STOPS}: this program is not a simulated test, is stripped, or is "
            "of an older Fermata: build it anew"
        ) from error


class Stops:
    """What the run and the debugger tell each other, in the process that is selected."""

    def __init__(self):
        if gdb.selected_inferior().pid == 0:
            raise gdb.GdbError("fermata: there is no process; `fermata debug TAPE` starts one")
        base = place_of_stops()
        if read(base, len(STOPS_MAGIC)) != STOPS_MAGIC:
            raise gdb.GdbError(f"fermata: {STOPS} is not what it should be")
        version = number(base + 16)
        if version != STOPS_VERSION:
            raise gdb.GdbError(
                f"fermata: the program stops by version {version}, this extension knows "
                f"{STOPS_VERSION}: use the tool fermata that was installed with the program's "
                "Fermata"
            )
        self.places = {name: base + 24 + 8 * i for i, name in enumerate(STOPS_FIELDS)}
        self.seen = base + 24 + 8 * len(STOPS_FIELDS)

    def get(self, name):
        return number(self.places[name])

    def set(self, **values):
        for name, value in values.items():
            gdb.selected_inferior().write_memory(self.places[name], value.to_bytes(8, "little"))

    def write_seen(self, content):
        """What the watched bytes hold now; empty when nothing is there."""
        if content:
            gdb.selected_inferior().write_memory(self.seen, content)
        self.set(seen_size=len(content))


def present_stops():
    stops = Stops()
    if not stops.get("active"):
        raise gdb.GdbError(
            "fermata: no run goes on that can be stopped; expected a replay with FERMATA_BREAK_AT, "
            "as `fermata debug TAPE` starts it"
        )
    return stops


# --- the run, as it was recorded ---


def counted(value):
    return f"{value:,}"


class Recording:
    """What `fermata report` says of the run: its steps, who woke whom, the messages."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        run = data["runs"][0]
        self.steps, self.lanes, self.machines = run["steps"], run["lanes"], run["machines"]
        self.turns, self.messages = run.get("turns", []), run.get("messages", [])
        self.numbers = [step["n"] for step in self.steps]
        # The last one that is not there any more.
        self.forgotten = self.numbers[0] - 1 if run.get("forgotten") else 0

    def last(self):
        return self.numbers[-1] if self.numbers else 0

    def at(self, step):
        """The index of the first step with this number, or None."""
        index = bisect.bisect_left(self.numbers, step)
        return index if index < len(self.numbers) and self.numbers[index] == step else None

    def name(self, lane):
        one = self.lanes[lane]
        return f"'{one['name']}'" + (
            f" on '{self.machines[one['machine']]}'" if len(self.machines) > 1 else ""
        )

    def time(self, index):
        return f"+{self.steps[index]['at'] / 1e6:.6f} ms"


# --- moving ---


class Arrival(gdb.Breakpoint):
    """Where the program stops by itself, which gdb tells nobody."""

    def __init__(self):
        super().__init__(STOP_FUNCTION, internal=True)
        self.silent = True


def shown_setting(value):
    return {True: "on", False: "off"}.get(value, value)


@contextlib.contextmanager
def settings(**values):
    """Of gdb; underscores stand for hyphens."""
    named = {name.replace("_", "-"): value for name, value in values.items()}
    before = {name: gdb.parameter(name) for name in named}
    try:
        for name, value in named.items():
            gdb.execute(f"set {name} {value}")
        yield
    finally:
        for name, value in before.items():
            gdb.execute(f"set {name} {shown_setting(value)}")


@contextlib.contextmanager
def undisturbed():
    """Without the breakpoints of whoever debugs, and without a question."""
    others = [each for each in gdb.breakpoints() if each.enabled and each.number > 0]
    for each in others:
        each.enabled = False
    replay.travels = True
    try:
        with settings(confirm="off"):
            yield
    finally:
        replay.travels = False
        for each in others:
            if each.is_valid():
                each.enabled = True


class Replay:
    """The process, and what is known of the run."""

    def __init__(self):
        self.recording = None
        self.travels = False
        self.signal = None  # That has stopped it, if one has.
        self.arrival = None
        self.addresses = None
        self.addresses_change = False

    def start(self, passing=False):
        """To the first step, in a new process; `passing` one that nobody is shown, with fewer
        symbols."""
        place_of_stops()
        if self.arrival is None:
            self.arrival = Arrival()
        gdb.execute("set environment FERMATA_BREAK_AT 1")
        # To read the symbols of libraries, and of the loader, takes twice as long as such a run.
        unread = {"auto_solib_add": "off", "debug_file_directory": ""} if passing else {}
        with settings(**unread):
            gdb.execute("run", to_string=True)
        if gdb.selected_inferior().pid == 0:
            raise gdb.GdbError("fermata: the process has ended before its first step")
        stops = present_stops()
        stops.set(stop_at_failure=1, stop_at_end=1, stop_by_call=1)
        self.note_addresses(stops)

    def note_addresses(self, stops):
        """Whether they are those of the process before: of the program, and of the stack."""
        stack = re.search(r"AT_RANDOM .*(0x\w+)", gdb.execute("info auxv", to_string=True))
        addresses = (stops.places["step"], stack and stack[1])
        self.addresses_change = self.addresses not in (None, addresses)
        self.addresses = addresses

    def check_addresses(self):
        """What has an address must have it in the next process as well."""
        if self.addresses_change:
            raise gdb.GdbError(
                "fermata last-write: the addresses of this program change from run to run; gdb "
                "could not turn off their randomisation (`set disable-randomization on`)"
            )

    def go_on(self, **stop):
        """Until it stops; returns why: NO_REASON when it was by something else."""
        present_stops().set(**{"reason": NO_REASON, "stop_in": 0, "stop_before": 0, **stop})
        gdb.execute("continue", to_string=True)
        if gdb.selected_inferior().pid == 0:
            raise gdb.GdbError("fermata: the process has ended on the way")
        return Stops().get("reason")

    def go_to(self, step):
        """To where the first coroutine runs in `step` or later."""
        if not 0 < self.step() < step:
            self.start()
        if self.step() < step:
            self.go_on(stop_in=step)

    def go_to_failure(self):
        """Or to the end of a run that does not fail."""
        self.start()
        self.go_on()

    @staticmethod
    def step():
        """The one that goes on; 0 when there is none."""
        if gdb.selected_inferior().pid == 0:
            return 0
        stops = Stops()
        return stops.get("step") if stops.get("active") else 0

    def check_range(self, step):
        last = self.recording.last() if self.recording else None
        if step < 1 or (last is not None and step > last):
            known = f"this run has steps 1 to {counted(last)}" if last else "steps begin with 1"
            raise gdb.GdbError(f"fermata: no step {counted(step)}: {known}")

    # --- where it is ---

    def show(self):
        """Where the run is, in the frame of the program."""
        stops = Stops()
        print(self.headline(stops.get("reason"), stops.get("step")))
        select_own_frame()

    def headline(self, reason, step):
        if reason == AT_END:
            return "the run is over"
        last = self.recording.last() if self.recording else step
        if reason == AT_FAILURE and step > last:
            return f"after step {counted(last)} of {counted(last)}: the run fails"
        if reason == NO_REASON and self.signal:
            return f"{self.name_of(step)} gets the signal {self.signal}"
        return f"{self.name_of(step)} {'fails' if reason == AT_FAILURE else 'runs'}"

    def name_of(self, step):
        """As "step 5 of 9, +1.000000 ms: 'worker'"."""
        text = f"step {counted(step)}"
        if self.recording is None:
            return f"{text}: it"
        text += f" of {counted(self.recording.last())}"
        index = self.recording.at(step)
        if index is None:
            return f"{text}: {'it' if step <= self.recording.forgotten else 'no coroutine'}"
        name = self.recording.name(self.recording.steps[index]["lane"])
        return f"{text}, {self.recording.time(index)}: {name}"


replay = Replay()


def note_stop(event):
    """The run has come to a stop of its own, perhaps while whoever debugs let it go on."""
    replay.signal = event.stop_signal if isinstance(event, gdb.SignalEvent) else None
    if replay.travels or not isinstance(event, gdb.BreakpointEvent):
        return
    if replay.arrival in event.breakpoints:
        replay.show()


def is_own(frame):
    """Whether it is of the program, as far as one can see."""
    name = frame.name() or ""
    foreign = ("fermata::", "testing::", "std::", "__", "fermata_debugger")
    return bool(frame.find_sal().symtab) and bool(name) and not name.startswith(foreign)


def own_frames():
    """Those of the program, innermost first, without what is below the coroutine's body."""
    frame, found = gdb.newest_frame(), []
    while frame is not None and (frame.name() or "") != "make_fcontext":
        if is_own(frame):
            found.append(frame)
        frame = frame.older()
    return found


def select_own_frame():
    found = own_frames()
    if found:
        found[0].select()
        gdb.execute("frame")


# --- commands ---


def number_of_step(text, what):
    plain = text.replace(",", "")
    if not plain.isdigit():
        raise gdb.GdbError(f"fermata {what}: '{text}' is not a number of steps")
    return int(plain)


def travel(step):
    """To a step; None: to the failure."""
    if step is not None:
        replay.check_range(step)
    with undisturbed():
        if step is None:
            replay.go_to_failure()
        else:
            replay.go_to(step)
    replay.show()


class Begin(gdb.Command):
    """What `fermata debug` does first: reads what is known of the run (docs/run_data.md) from FILE,
    and goes to STEP, or to `failure`: fermata begin FILE STEP. Without a file: fermata begin -"""

    def __init__(self):
        super().__init__("fermata begin", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if words and words[0] != "-":
            replay.recording = Recording(words[0])
        where = words[1] if len(words) > 1 else "failure"
        travel(None if where == "failure" else number_of_step(where, "begin"))


class Goto(gdb.Command):
    """Goes to a step of the replay, before or after this one: fermata goto STEP, or failure."""

    def __init__(self):
        super().__init__("fermata goto", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        where = argument.strip()
        if not where:
            raise gdb.GdbError("fermata goto: expected the number of a step, or `failure`")
        travel(None if where == "failure" else number_of_step(where, "goto"))


class Back(gdb.Command):
    """Goes so many steps back, one if nothing is said: fermata back [N]."""

    def __init__(self):
        super().__init__("fermata back", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        steps = number_of_step(argument.strip() or "1", "back")
        here = present_stops().get("step")
        if replay.recording:
            here = min(here, replay.recording.last())
        travel(here - steps)


gdb.events.stop.connect(note_stop)
for command in (Begin, Goto, Back):
    command()
