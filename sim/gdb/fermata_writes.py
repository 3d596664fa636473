# SPDX-License-Identifier: Apache-2.0
"""A command of gdb for a replay: back to the last write of something.

    (gdb) fermata last-write EXPR   to the last write that changed it, from there to the one before

Needs fermata_replay.py, sourced before.
"""

import contextlib

import gdb
from __main__ import (
    AT_BOUNDARY,
    AT_END,
    AT_STEP,
    NO_REASON,
    STOP_FUNCTION,
    Stops,
    own_frames,
    present_stops,
    read,
    replay,
    undisturbed,
)

MOST_WATCHED = 32  # Bytes: four debug registers of eight each.
FEW_WRITES = 100  # That the processor stops for: each takes as long as a hundred steps.
NEAR = 20  # Steps.
REGISTERS = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split()


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

    latest = None

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
        replay.start(passing=True)
        replay.check_addresses()
        self.pass_steps(here.step, FEW_WRITES)
        found = Found.latest
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
        if Found.latest is not None and Found.latest.ends_at(here, variable):
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
    Found.latest = Found(variable, survey.step, survey.count)
    return watch


def to_boundary(step, passing=False):
    """To the end of the step before, or the begin of the first."""
    replay.start(passing)
    replay.check_addresses()
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


LastWrite()
