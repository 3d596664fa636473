# SPDX-License-Identifier: Apache-2.0
"""Commands of gdb for programs that run on Fermata.

    (gdb) source fermata.py
    (gdb) fermata coroutines        who there is, what each does, and where
    (gdb) fermata waits             who waits for whom, and rings of them
    (gdb) fermata bt ID|NAME        the backtrace of a coroutine
    (gdb) fermata select ID|NAME    up, down and info locals are about it, until the program goes on
    (gdb) fermata select            or until this

Works on processes and on core files, without running any code of the program. A coroutine is found
through the symbol fermata_debugger_anchor, which says where everything is; so its name, its state
its places and what it waits for need no debug information. Lines and arguments in backtraces do.
"""

import re

import gdb
from gdb.unwinder import Unwinder, register_unwinder

ANCHOR = "fermata_debugger_anchor"
MAGIC = b"fermata anchor\0\0"
VERSION = 1
# What follows the version in the anchor, eight bytes each.
FIELDS = (
    "first_runtime runtime_next runtime_name runtime_current_coroutine runtime_first_coroutine "
    "coroutine_next coroutine_id coroutine_name coroutine_spawn_place coroutine_context "
    "coroutine_status coroutine_place coroutine_registration registration_next "
    "registration_event registration_rule event_kind event_serial context_registers "
    "context_stack_low context_stack_high primitive_name mutex_holder channel_name"
).split()

WAITING, QUEUED, IGNORED = 1, 2, 3  # Of WakerStatus.
RULES = ("", "or until the token ", "or at most until ", "")  # WakeRule
KINDS = (
    "Event Scope Coroutine Timer Poll PollProxy Signal Trigger Task Thread Process Listener "
    "Request Io Joint"
).split()
COROUTINE = KINDS.index("Coroutine")
PRIMITIVES = ("Mutex", "Semaphore", "Condition", "Once", "Barrier")


class Saved:
    """What jump_fcontext of Boost.Context pushes: registers by their distance from `sp`."""

    def __init__(self, sp, pc, size, registers):
        self.sp, self.pc, self.size, self.registers = sp, pc, size, registers


SAVED = {
    "i386:x86-64": Saved("rsp", "rip", 0x40, {
        **{"r12": 0x08, "r13": 0x10, "r14": 0x18, "r15": 0x20},
        **{"rbx": 0x28, "rbp": 0x30, "rip": 0x38}}),
    "aarch64": Saved("sp", "pc", 0xB0, {
        **{f"x{19 + i}": 0x40 + 8 * i for i in range(12)}, "pc": 0xA0}),
}


# --- memory ---


def read(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def number(address, size=8):
    return int.from_bytes(read(address, size), "little")


def text(address):
    """The text that ends with a null at `address`."""
    found = b""
    while b"\0" not in found:
        # Never across a page, of which the next may be missing.
        found += read(address + len(found), min(64, 4096 - (address + len(found)) % 4096))
    return found.split(b"\0")[0].decode(errors="replace")


def place(address):
    file, function, line = text(number(address)), text(number(address + 8)), number(address + 16)
    return f"{file}:{line}" + (f" ({function})" if function else "")


# --- what there is ---


class Layout:
    """Where everything is, as the program's anchor tells."""

    def __init__(self):
        if gdb.selected_inferior().pid == 0:
            raise gdb.GdbError("fermata: there is no process and no core file")
        try:
            address = int(gdb.parse_and_eval(f"(unsigned long)&{ANCHOR}"))
        except gdb.error:
            raise gdb.GdbError(
                f"fermata: no symbol {ANCHOR}: this program has no Fermata in it, or is stripped"
            )
        if read(address, len(MAGIC)) != MAGIC:
            raise gdb.GdbError(f"fermata: {ANCHOR} is not what it should be; is the core file cut?")
        version = number(address + 16)
        if version != VERSION:
            raise gdb.GdbError(
                f"fermata: the program's objects are of layout {version}, this extension knows "
                f"{VERSION}: use the fermata.py that was installed with the program's Fermata"
            )
        for index, field in enumerate(FIELDS):
            setattr(self, field, number(address + 24 + 8 * index))


class Coroutine:
    def __init__(self, layout, runtime, address):
        self.layout = layout
        self.runtime = runtime
        self.address = address
        self.id = number(address + layout.coroutine_id)
        self.name = text(number(address + layout.coroutine_name)) or f"coroutine {self.id}"
        self.context = number(address + layout.coroutine_context)
        self.status = number(address + layout.coroutine_status, 1)

    def __str__(self):
        return f"{self.id} '{self.name}'"

    def runs(self):
        return self.runtime.current == self.address

    def state(self):
        suspended_at = number(self.address + self.layout.coroutine_place)
        where = f" at {place(suspended_at)}" if suspended_at else ""
        if self.runs():
            return "runs"
        if self.status == WAITING:
            return "waits" + where
        if self.status == IGNORED:
            return "cancelled before its start"
        if self.status == QUEUED:
            return "ready" + where if self.context else "not started yet"
        return "suspended" + where

    def spawned(self):
        """Empty for the main coroutine."""
        where = place(self.address + self.layout.coroutine_spawn_place)
        return "" if where == "unknown:0" else where

    def registrations(self):
        """Pairs of a WakeRule and the address of an event."""
        each = number(self.address + self.layout.coroutine_registration)
        while each:
            rule = number(each + self.layout.registration_rule, 1)
            yield rule, number(each + self.layout.registration_event)
            each = number(each + self.layout.registration_next)


class Runtime:
    def __init__(self, layout, index, address):
        self.index = index
        name = address + layout.runtime_name
        self.name = read(number(name), number(name + 8)).decode(errors="replace")
        self.current = number(address + layout.runtime_current_coroutine)
        self.coroutines = []
        each = number(address + layout.runtime_first_coroutine)
        while each:
            self.coroutines.append(Coroutine(layout, self, each))
            each = number(each + layout.coroutine_next)


def runtimes():
    layout = Layout()
    found = []
    each = layout.first_runtime
    while each:
        found.append(each)
        each = number(each + layout.runtime_next)
    if not found:
        raise gdb.GdbError("fermata: the program has no runtime now")
    # The oldest first: each puts itself at the head of the list.
    return [Runtime(layout, i, address) for i, address in enumerate(reversed(found), start=1)]


def find(wanted):
    """The coroutine of that id or name, or of ID in RUNTIME:ID."""
    runtime, _, rest = wanted.rpartition(":")
    fitting = [
        each
        for one in runtimes()
        if runtime in ("", str(one.index), one.name)
        for each in one.coroutines
        if rest in (str(each.id), each.name)
    ]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise gdb.GdbError(f"fermata: no coroutine '{wanted}'; `fermata coroutines` lists them")
    several = ", ".join(f"{each.runtime.index}:{each.id}" for each in fitting)
    raise gdb.GdbError(f"fermata: '{wanted}' could be any of {several}")


# --- events ---


class Event:
    def __init__(self, layout, address):
        self.layout = layout
        self.address = address
        self.kind = number(address + layout.event_kind, 1)
        symbol = gdb.execute(f"info symbol {number(address):#x}", to_string=True)
        vtable = re.match(
            r"vtable for (?:fermata::)?(?:backend::|detail::)?(.+?)(?: \+ \d+)? in ", symbol)
        self.type = vtable[1] if vtable else KINDS[self.kind]

    def __str__(self):
        if self.kind == COROUTINE:
            return f"coroutine {Coroutine(self.layout, None, self.address)}"
        name = self.name()
        if name:
            return f"{self.type} '{name}'"
        return f"{self.type} #{number(self.address + self.layout.event_serial)}"

    def name(self):
        offset = 0
        if self.type in PRIMITIVES:
            offset = self.layout.primitive_name
        elif self.type.startswith("ChannelOf<"):
            offset = self.layout.channel_name
        return text(number(self.address + offset)) if offset else ""

    def holder(self):
        """The id of the coroutine that holds it; 0 when nobody does or it is not a mutex."""
        return number(self.address + self.layout.mutex_holder) if self.type == "Mutex" else 0


# --- stacks ---


class FrameId:
    def __init__(self, sp, pc):
        self.sp = gdb.Value(sp)
        self.pc = gdb.Value(pc)


class SavedContext(Unwinder):
    """Lets the saved registers of a coroutine come next to the frame where the thread stopped."""

    def __init__(self):
        super().__init__("fermata")
        self.registers = None  # The address of what jump_fcontext has saved.
        self.saved = None
        self.innermost = None

    def show(self, registers):
        self.registers = None
        gdb.invalidate_cached_frames()
        frame = gdb.newest_frame()
        self.saved = saved_here()
        self.innermost = (int(frame.read_register(self.saved.sp)), frame.pc())
        self.registers = registers
        gdb.invalidate_cached_frames()

    def hide(self):
        self.registers = None
        gdb.invalidate_cached_frames()

    def __call__(self, frame):
        if self.registers is None:
            return None
        at = tuple(int(frame.read_register(name)) for name in (self.saved.sp, self.saved.pc))
        if at != self.innermost:
            return None
        # Not the thread's own stack pointer: gdb would take the coroutine's frames for corrupt.
        found = frame.create_unwind_info(FrameId(self.registers, self.innermost[1]))

        def add(register, value):
            kind = frame.read_register(register).type
            found.add_saved_register(register, gdb.Value(value).cast(kind))

        for register, offset in self.saved.registers.items():
            add(register, number(self.registers + offset))
        add(self.saved.sp, self.registers + self.saved.size)
        return found

    def frames_before(self):
        """How many frames there are before the coroutine's own."""
        frame, count = gdb.newest_frame(), 0
        while frame is not None and int(frame.read_register(self.saved.sp)) == self.innermost[0]:
            frame, count = frame.older(), count + 1
        return count


saved_context = SavedContext()
register_unwinder(None, saved_context, replace=True)


def thread_on(layout, context):
    """The thread that runs on the stack of `context`, or None."""
    low = number(context + layout.context_stack_low)
    high = number(context + layout.context_stack_high)
    selected = gdb.selected_thread()
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            if low <= int(gdb.newest_frame().read_register(saved_here().sp)) < high:
                return thread
    finally:
        selected.switch()
    return None


def saved_here():
    """What a switch has saved, on this processor."""
    architecture = gdb.newest_frame().architecture().name()
    if architecture not in SAVED:
        raise gdb.GdbError(
            f"fermata: stacks are known on x86-64 and arm64 alone; this is {architecture}")
    return SAVED[architecture]


def backtrace(skipped):
    """gdb's backtrace without so many frames, which are numbered anew."""
    frames = re.split(r"^(?=#\d+ )", gdb.execute("backtrace", to_string=True), flags=re.M)[1:]
    for index, frame in enumerate(frames):
        if " in make_fcontext ()" in frame:  # What began the stack; below it is nothing.
            del frames[index:]
            break
    return "".join(
        re.sub(r"^#\d+ *", f"#{index:<3}", frame) for index, frame in enumerate(frames[skipped:])
    )


def backtrace_of(coroutine):
    saved_here()
    if not coroutine.context:
        return f"it has no stack yet; it was spawned at {coroutine.spawned()}\n"
    if coroutine.runs():
        thread = thread_on(coroutine.layout, coroutine.context)
        if thread is None:
            return "it runs, but no thread is on its stack: another machine has control\n"
        selected = gdb.selected_thread()
        try:
            thread.switch()
            return backtrace(0)
        finally:
            selected.switch()
    level = gdb.selected_frame().level()
    saved_context.show(number(coroutine.context + coroutine.layout.context_registers))
    try:
        return backtrace(saved_context.frames_before())
    finally:
        saved_context.hide()
        gdb.execute(f"frame {level}", to_string=True)


# --- commands ---


class Fermata(gdb.Command):
    """Coroutines of a program that runs on Fermata."""

    def __init__(self):
        super().__init__("fermata", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


class Coroutines(gdb.Command):
    """Who there is: id, name, state, where it was spawned, and what it waits for."""

    def __init__(self):
        super().__init__("fermata coroutines", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        for runtime in runtimes():
            print(f"runtime {runtime.index} '{runtime.name}', {len(runtime.coroutines)} coroutines")
            for each in runtime.coroutines:
                print(f"  {each} {each.state()}")
                if each.spawned():
                    print(f"      spawned at {each.spawned()}")
                for rule, event in each.registrations():
                    print(f"      {RULES[rule] or 'for '}{Event(each.layout, event)}")


class Waits(gdb.Command):
    """Who waits for whom: a line for each coroutine that waits, and rings of them."""

    def __init__(self):
        super().__init__("fermata waits", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        for runtime in runtimes():
            print(f"runtime {runtime.index} '{runtime.name}'")
            by_id = {each.id: each for each in runtime.coroutines}
            by_address = {each.address: each for each in runtime.coroutines}
            edges = {}  # From id to id: only who waits for one thing can be in a ring.
            for each in runtime.coroutines:
                parts = []
                targets = []
                for rule, address in each.registrations():
                    event = Event(each.layout, address)
                    holder = by_id.get(event.holder())
                    targets.append(by_address.get(address) or holder)
                    held = f", held by {holder}" if holder else ""
                    parts.append(f"{RULES[rule]}{event}{held}")
                if parts:
                    print(f"  {each} -> {'; '.join(parts)}")
                if len(targets) == 1 and targets[0]:
                    edges[each.id] = targets[0].id
            for ring in rings(edges):
                print("  ring: " + " -> ".join(str(by_id[id]) for id in ring + ring[:1]))


def rings(edges):
    """The cycles of a graph with at most one edge from each, each from its smallest on."""
    seen = set()
    for start in sorted(edges):
        path = []
        each = start
        while each in edges and each not in seen:
            seen.add(each)
            path.append(each)
            each = edges[each]
        if each in path:
            ring = path[path.index(each) :]
            first = ring.index(min(ring))
            yield ring[first:] + ring[:first]


class Backtrace(gdb.Command):
    """The backtrace of a coroutine: fermata bt ID, or NAME, or RUNTIME:ID."""

    def __init__(self):
        super().__init__("fermata bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if not argument.strip():
            raise gdb.GdbError("fermata bt: expected the id or the name of a coroutine")
        coroutine = find(argument.strip())
        print(f"{coroutine} {coroutine.state()}")
        print(backtrace_of(coroutine), end="")


class Select(gdb.Command):
    """Makes up, down, frame and info locals be about a suspended coroutine; without an argument
    about the thread again. The frames of the thread that come first are not the coroutine's."""

    def __init__(self):
        super().__init__("fermata select", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        saved_context.hide()
        if not argument.strip():
            return
        coroutine = find(argument.strip())
        saved_here()
        if not coroutine.context or coroutine.runs():
            raise gdb.GdbError(f"fermata: {coroutine} is not suspended: it {coroutine.state()}")
        saved_context.show(number(coroutine.context + coroutine.layout.context_registers))
        gdb.execute(f"frame {saved_context.frames_before()}")


gdb.events.cont.connect(lambda event: setattr(saved_context, "registers", None))
for command in (Fermata, Coroutines, Waits, Backtrace, Select):
    command()
