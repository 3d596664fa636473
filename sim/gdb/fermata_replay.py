# SPDX-License-Identifier: Apache-2.0
"""Commands of gdb for a replay: to any step of it, back in time, to the last write of something.

    (gdb) fermata goto STEP         to where a coroutine begins to run in that step
    (gdb) fermata goto failure      to where the run fails, or to its end
    (gdb) fermata back [N]          so many steps back
    (gdb) fermata last-write EXPR   to the last write that changed it
    (gdb) fermata why               why the coroutine runs that runs now

`fermata debug TAPE` opens gdb with them. A replay does the same each time, so going back is going
forward again from the start, in a new process with the same addresses: a hundred thousand steps
take about as long as starting it. Who stops the run where is fermata_debugger_stops, in the program
(sim/audit/debugger_stops.hpp). Needs fermata.py, sourced before.
"""

import bisect
import contextlib
import json

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
MOST_WATCHED = 32  # Bytes: four debug registers of eight each.
MOST_LINES = 20  # Of an answer to why.
FEW_WRITES = 100  # That the processor stops for: each takes as long as a hundred steps.
NEAR = 20  # Steps.
REGISTERS = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split()


class Stops:
    """What the run and the debugger tell each other, in the process that is selected."""

    def __init__(self):
        if gdb.selected_inferior().pid == 0:
            raise gdb.GdbError("fermata: there is no process; `fermata debug TAPE` starts one")
        try:
            base = int(gdb.parse_and_eval(f"(unsigned long)&{STOPS}"))
        except gdb.error as error:
            raise gdb.GdbError(
                f"fermata: no symbol {STOPS}: this program is no simulated test, or is stripped"
            ) from error
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
        self.failure = data.get("failure")
        run = data["runs"][0]
        self.steps, self.lanes, self.machines = run["steps"], run["lanes"], run["machines"]
        self.turns, self.messages = run.get("turns", []), run.get("messages", [])
        self.numbers = [step["n"] for step in self.steps]
        self.forgotten = run.get("forgotten", 0)

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


@contextlib.contextmanager
def undisturbed():
    """Without the breakpoints of whoever debugs, and without a question."""
    others = [each for each in gdb.breakpoints() if each.enabled and each.number > 0]
    for each in others:
        each.enabled = False
    confirms = gdb.parameter("confirm")
    gdb.execute("set confirm off")
    replay.travels = True
    try:
        yield
    finally:
        replay.travels = False
        gdb.execute(f"set confirm {'on' if confirms else 'off'}")
        for each in others:
            if each.is_valid():
                each.enabled = True


class Replay:
    """The process, and what is known of the run."""

    def __init__(self):
        self.recording = None
        self.travels = False
        self.arrival = None
        self.found = None
        self.addresses = None
        self.addresses_change = False

    def start(self, step, passing=False):
        """To `step`, in a new process; `passing` one that nobody is shown, which needs fewer
        symbols."""
        if self.arrival is None:
            self.arrival = Arrival()
        gdb.execute(f"set environment FERMATA_BREAK_AT {step}")
        adds = gdb.parameter("auto-solib-add")
        if passing:
            gdb.execute("set auto-solib-add off")
        try:
            gdb.execute("run", to_string=True)
        finally:
            gdb.execute(f"set auto-solib-add {'on' if adds else 'off'}")
        stops = present_stops()
        stops.set(stop_at_failure=1, stop_at_end=1, stop_by_call=1)
        self.note_addresses(stops)

    def note_addresses(self, stops):
        addresses = (stops.places["step"], int(gdb.newest_frame().read_register("rsp")))
        if stops.get("step") == 1:
            self.addresses_change = self.addresses not in (None, addresses)
            self.addresses = addresses

    def check_addresses(self):
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
        if 0 < self.step() < step:
            self.go_on(stop_in=step)
        else:
            self.start(step)

    def go_to_failure(self):
        """Or to the end of a run that does not fail."""
        failure = self.recording and self.recording.failure
        self.start(failure["step"] if failure and failure["step"] else 1)
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
        return f"{self.name_of(step)} {'fails' if reason == AT_FAILURE else 'runs'}"

    def name_of(self, step):
        """As "step 5 of 9, +1.000000 ms: 'worker'"."""
        text = f"step {counted(step)}"
        if self.recording is None:
            return f"{text}: it"
        text += f" of {counted(self.recording.last())}"
        index = self.recording.at(step)
        if index is None:
            return f"{text}: no coroutine"
        name = self.recording.name(self.recording.steps[index]["lane"])
        return f"{text}, {self.recording.time(index)}: {name}"


replay = Replay()


def note_stop(event):
    """The run has come to a stop of its own while whoever debugs let it go on."""
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
        raise gdb.GdbError(f"fermata {what}: '{text}' is no number of steps")
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
    """What `fermata debug` does first: takes what is known of the run from a file (docs/run_data.md),
    and goes to a step, or to `failure`: fermata begin FILE STEP. Without a file: fermata begin -"""

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


# --- the last write ---


class Variable:
    """Bytes of the process, with the type that an expression gives them."""

    def __init__(self, expression):
        self.expression = expression
        value = self.value_of(expression)
        self.type, self.size = value.type, value.type.sizeof
        self.address = int(value.address)
        words = (self.address + self.size - 1) // 8 - self.address // 8 + 1
        if 8 * words > MOST_WATCHED:
            self.refuse(f"has {self.size} bytes; expected at most {MOST_WATCHED}: name a member")

    def value_of(self, expression):
        try:
            value = gdb.parse_and_eval(expression)
            if value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
                value = value.referenced_value()
            value.fetch_lazy()
            found = value.address
        except gdb.error as error:
            self.refuse(str(error))
        if found is None:
            self.refuse("has no address, as it is in a register or no variable; expected something "
                        "in memory, such as object.member or *pointer")
        return value

    def key(self):
        return self.address, self.size

    def refuse(self, why):
        raise gdb.GdbError(f"fermata last-write: '{self.expression}': {why}")

    def read(self):
        """Empty while nothing is there."""
        try:
            return read(self.address, self.size)
        except gdb.MemoryError:
            return b""

    def shown(self, content):
        if not content:
            return "<no memory>"
        return " ".join(gdb.Value(content, self.type).format_string().split())


class Watch(gdb.Breakpoint):
    """Sees the writes that change a variable: the last step that had some, and how many in it."""

    def __init__(self, variable, most=None):
        super().__init__(f"*(unsigned char (*)[{variable.size}]){variable.address:#x}",
                         gdb.BP_WATCHPOINT, gdb.WP_WRITE, internal=True)
        self.silent = True
        self.variable, self.most, self.stops = variable, most, Stops()
        self.step, self.count, self.all = 0, 0, 0
        self.old = self.new = variable.read()

    def stop(self):
        """Whether it has seen as many as it is to see."""
        now = self.variable.read()
        if now == self.new:
            return False
        step = self.stops.get("step")
        self.count = self.count + 1 if step == self.step else 1
        self.old, self.new, self.step = self.new, now, step
        self.all += 1
        return self.all == self.most


@contextlib.contextmanager
def watched(variable, most=None):
    watch = Watch(variable, most)
    try:
        yield watch
    finally:
        watch.delete()


def state_of_thread():
    """Its registers and what is on its stack, as far as it tells two passages of a place apart."""
    frame = gdb.newest_frame()
    registers = [int(frame.read_register(name)) for name in REGISTERS]
    sp = int(frame.read_register("rsp"))
    return registers, read(sp, min(2048, 4096 - sp % 4096))


class Passage(gdb.Breakpoint):
    """Where the process was, to stop there when it comes by again."""

    def __init__(self, place, state):
        super().__init__(f"*{place:#x}", internal=True)
        self.silent = True
        self.state = state

    def stop(self):
        return state_of_thread() == self.state


class Position:
    """Where the process stands, to come back to."""

    def __init__(self):
        stops = present_stops()
        self.step = stops.get("step")
        frame = gdb.newest_frame()
        self.at_stop = frame.name() == STOP_FUNCTION
        self.reason = stops.get("reason") if self.at_stop else NO_REASON
        self.place, self.state = frame.pc(), state_of_thread()

    def come_from_boundary(self):
        """The process is between this step and the one before."""
        if self.at_stop:
            reason = NO_REASON
            while reason not in (self.reason, AT_END):
                reason = replay.go_on(stop_in=self.step if self.reason == AT_STEP else 0)
            return
        passage = Passage(self.place, self.state)
        try:
            while gdb.newest_frame().pc() != self.place:
                if replay.go_on() == AT_END:
                    raise gdb.GdbError("fermata: the way back to where this was is lost")
        finally:
            passage.delete()


class Found:
    """A write that last-write has gone to: the next search of the same is for the one before."""

    def __init__(self, variable, step, count):
        self.variable, self.step, self.count = variable.key(), step, count
        self.state = state_of_thread()

    def ends_at(self, here, variable):
        """Whether the process has stayed there since."""
        return (variable.key(), here.step, here.state) == (self.variable, self.step, self.state)


class Survey:
    """The last write of a variable before the process came to where it is, in a run of its own.

    Where a variable is written often the processor, who stops for each write, is asked at the begin
    and at the end alone. In between the run itself looks after each step whether it has changed.
    """

    def __init__(self, variable, here):
        self.variable = variable
        self.step, self.count = 0, 0  # How many writes are in that step; None: not counted yet.
        replay.start(1, passing=True)
        replay.check_addresses()
        self.pass_steps(here.step, FEW_WRITES)
        found = replay.found
        if found is not None and found.ends_at(here, variable):
            if found.count > 1:
                self.step, self.count = found.step, found.count - 1
            return
        with watched(variable) as watch:
            here.come_from_boundary()
            self.note(watch)

    def pass_steps(self, end, most):
        """To the boundary before the step `end`."""
        if end == 1:
            return
        with watched(self.variable, most) as watch:
            reason = replay.go_on(stop_before=end)
            self.note(watch)
        if reason == AT_BOUNDARY:
            return
        if replay.step() + NEAR < end:
            self.look_after_each_step(end - NEAR)
        self.pass_steps(end, None)

    def note(self, watch):
        if watch.all > 0:
            same = watch.step == self.step and self.count is not None
            self.count = watch.count + (self.count if same else 0)
            self.step = watch.step

    def look_after_each_step(self, end):
        stops = present_stops()
        stops.write_seen(self.variable.read())
        stops.set(watched_address=self.variable.address, watched_size=self.variable.size,
                  changed_in=0)
        replay.go_on(stop_before=end)
        stops.set(watched_size=0)
        if stops.get("changed_in"):
            self.step, self.count = stops.get("changed_in"), None


def last_write(variable):
    """Goes to it; returns the watch that has seen it, or None, and is where it was."""
    here = Position()
    survey = Survey(variable, here)
    if survey.step == 0:
        if replay.found is not None and replay.found.ends_at(here, variable):
            here.come_from_boundary()
        return None
    if survey.count is None:
        survey.count = writes_in(survey.step, variable)
    if survey.count == 0:
        raise gdb.GdbError(
            f"fermata: {replay.name_of(survey.step)} changed '{variable.expression}', and no "
            "instruction of the program: it was the kernel, for a call of the system"
        )
    to_boundary(survey.step)
    with watched(variable, survey.count) as watch:
        replay.go_on()
    replay.found = Found(variable, survey.step, survey.count)
    return watch


def to_boundary(step, passing=False):
    """To the end of the step before, or the begin of the first."""
    replay.start(1, passing)
    if step > 1:
        replay.go_on(stop_before=step)


def writes_in(step, variable):
    to_boundary(step, passing=True)
    with watched(variable) as watch:
        replay.go_on(stop_before=step + 1)
        return watch.count


def place_of_write():
    """The line that has just written, as "file:line" with its function, and its text."""
    frame = gdb.newest_frame()
    pc = frame.pc() - 1  # The processor stops after the instruction, which may be the line's last.
    sal = gdb.find_pc_line(pc)
    own = own_frames()
    if sal.symtab is None and own:
        return f"{own[0].find_sal().symtab.filename}:{own[0].find_sal().line}"
    return f"{sal.symtab.filename}:{sal.line}" if sal.symtab else f"{pc:#x}"


class LastWrite(gdb.Command):
    """Goes back to the last write that changed something: fermata last-write EXPR."""

    def __init__(self):
        super().__init__("fermata last-write", gdb.COMMAND_RUNNING, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        if not argument.strip():
            raise gdb.GdbError("fermata last-write: expected an expression, such as object.member")
        variable = Variable(argument.strip())
        with undisturbed():
            watch = last_write(variable)
        if watch is None:
            print(f"'{variable.expression}' has not changed since the run began")
            return
        print(f"{replay.name_of(Stops().get('step'))} changed '{variable.expression}' from "
              f"{variable.shown(watch.old)} to {variable.shown(watch.new)}")
        print(f"at {place_of_write()}")
        for frame in own_frames():
            sal = frame.find_sal()
            print(f"#{frame.level():<3}{frame.name()} at {sal.symtab.filename}:{sal.line}")
        own = own_frames()
        if own:
            own[0].select()


# --- why ---


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
        lines = []
        while index is not None and len(lines) < MOST_LINES - 1:
            if index in self.picks:
                lines.append(f"{self.picks[index]['text']} in {self.when(index)}, other than in "
                             "production")
                break
            first = self.first_of_yields(index)
            if first != index:
                lines.append(f"{self.name(index)} runs again after it let others run; so it has "
                             f"since step {counted(self.number(first))}")
                index = first
                continue
            line, index = self.cause(index)
            lines.append(line)
        return lines

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
                    f"came: {message['what']}, {message['bytes']} bytes{self.waited(before)}",
                    message["step"])
        if before is not None:
            return f"{name} runs because the time or the world woke it{self.waited(before)}", before
        return f"{name} runs because its program begins with it", None

    def waited(self, before):
        if before is None or self.recording.steps[before]["end"] != "waits":
            return ""
        step = self.recording.steps[before]
        awaited = step.get("why", "something").split(" spawned at ")[0]
        return f"; it waited for {awaited} at {step.get('place', 'no known place')}"


class Why(gdb.Command):
    """Says why the coroutine runs that runs now, back to a choice that production would not make."""

    def __init__(self):
        super().__init__("fermata why", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        if replay.recording is None:
            raise gdb.GdbError("fermata why: there is no record of this run; `fermata debug TAPE` "
                               "makes one unless the run ends its process")
        recording = replay.recording
        step = min(present_stops().get("step"), recording.last())
        index = recording.at(step)
        if index is None:
            print(f"step {counted(step)}: no coroutine runs, the world does")
            return
        print(replay.name_of(step))
        for line in Causes(recording).explain(index):
            print(f"  {line}")


gdb.events.stop.connect(note_stop)
for command in (Begin, Goto, Back, LastWrite, Why):
    command()
