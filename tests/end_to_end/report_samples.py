#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs as the program would write them into its page, made by hand, always the same.

usage: report_samples.py BUNDLE FOLDER    writes every sample as a page into FOLDER
"""

import json
import pathlib
import sys

PLACE = '<script type="application/json" id="run-data">'
MS = 1_000_000

# Strings that a page must show and not obey.
HOSTILE = "</script><script>document.title='owned'</script><!-- \"quoted\" 'single' & &amp; \\u003c"
FOREIGN = "Überweisung 送金 🏦 \u202eלאחור"
LONG = "a_coroutine_with_" + "a_very_" * 60 + "long_name"


def page(bundle, report):
    """The page of `report`, put together as the program does."""
    data = json.dumps(report, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    before, place, after = bundle.partition(PLACE)
    assert place and PLACE not in after
    return before + place + data + after


class Recorder:
    """One run, told step by step."""

    def __init__(self, title, machines=("main",), first=1):
        self.run = {"title": title, "hash": "84d42db5058ba18d", "end": 0, "forgotten": 0}
        self.run |= {"machines": list(machines), "lanes": [], "steps": [], "turns": []}
        self.run |= {"messages": [], "faults": [], "lines": [], "files": []}
        self.number = first
        self.now = 0

    def lane(self, name, spawned, machine=0, parent=None):
        lane = {"machine": machine, "name": name, "spawned": spawned}
        if parent is not None:
            lane["parent"] = parent
        self.run["lanes"].append(lane)
        return len(self.run["lanes"]) - 1

    def step(self, lane, end, why=None, place=None, wakes=()):
        step = {"n": self.number, "lane": lane, "at": self.now, "end": end}
        step |= {name: value for name, value in (("why", why), ("place", place)) if value}
        if wakes:
            step["wakes"] = [list(wake) for wake in wakes]
        self.run["steps"].append(step)
        self.run["end"] = self.now
        self.number += 1
        return len(self.run["steps"]) - 1

    def turn(self, text, chosen=None, passed=None, decides=False):
        turn = {"step": len(self.run["steps"]), "text": text}
        if chosen is not None:
            turn |= {"chosen": chosen, "passed": passed, "pick": True}
        if decides:
            self.run["decisive"] = len(self.run["turns"])
        self.run["turns"].append(turn)

    def message(self, kind, source, target, fate, took=None, size=0, what="", preview=""):
        message = {"kind": kind, "from": source, "to": target, "sent": self.now, "fate": fate}
        if took is not None:
            message["arrived"] = self.now + took
        if size:
            message["bytes"] = size
        message |= {key: text for key, text in (("what", what), ("preview", preview)) if text}
        message["step"] = len(self.run["steps"]) - 1
        self.run["messages"].append(message)

    def line(self, text, lane=None):
        """Printed by a coroutine in the step that is told next, or by nobody before it."""
        line = {"at": self.now, "step": len(self.run["steps"]), "text": text}
        self.run["lines"].append(line if lane is None else line | {"lane": lane})

    def file(self, path, seen=None, durable=None, machine=0):
        """What a file has become in the last step."""
        change = {"machine": machine, "path": path, "at": self.now, "step": len(self.run["steps"])}
        for name, text in (("seen", seen), ("durable", durable)):
            if text is not None:
                change[name] = {"bytes": len(text), "preview": text}
        self.run["files"].append(change | ({"synced": True} if seen == durable else {}))

    def fault(self, kind, text, machine=None, other=None, until=None):
        fault = {"at": self.now, "kind": kind, "text": text}
        optional = (("machine", machine), ("other", other), ("until", until))
        self.run["faults"].append(fault | {k: v for k, v in optional if v is not None})


def report(test, *runs, **more):
    binary = f"build/tests/{test.split('.')[0].lower()}_test"
    seed = "0x2a"
    command = f"FERMATA_SEED={seed} FERMATA_RUNS=1 FERMATA_STRATEGY=pct:3 FERMATA_FAULTS=all "
    base = {"format": 1, "fermata": "0.5.0", "test": test, "program": binary, "seed": seed}
    base |= {"strategy": "pct:3", "reproduce": f"{command}{binary} --gtest_filter={test}"}
    return base | more | {"runs": [run.run for run in runs]}


def deadlock():
    """Two transfers that lock the same two accounts, each in its own order."""
    run = Recorder("failing run")
    place = "examples/transfer/transfer_sim_test.cpp"
    main = run.lane("main", f"{place}:27")
    there = run.lane("there", f"{place}:29", parent=main)
    back = run.lane("back", f"{place}:30", parent=main)
    run.step(main, "yields", place=f"{place}:29", wakes=[(there, "spawn")])
    run.step(there, "yields", place=f"{place}:15")
    run.step(main, "waits", "Scope 'transfers'", f"{place}:31", wakes=[(back, "spawn")])
    run.turn("'back' runs before 'there'", back, there, decides=True)
    run.step(back, "yields", place=f"{place}:15")
    run.step(there, "waits", "Mutex 'bob'", f"{place}:16")
    run.step(back, "waits", "Mutex 'alice'", f"{place}:16")
    ring = [
        {"coroutine": "there", "waits_for": ["Mutex 'bob'"], "how": "held by", "by": "back"},
        {"coroutine": "back", "waits_for": ["Mutex 'alice'"], "how": "held by", "by": "there"},
    ]
    for step in ring:
        step |= {"since": f"{place}:15", "certainty": "known"}
    text = (
        "cycle: 'there' --mutex 'bob' (held by 'back')--> 'back'"
        " --mutex 'alice' (held by 'there')--> 'there'"
    )

    def waiter(number, name, spawned, suspended, waits):
        one = {"name": name, "id": number, "node": "main", "state": "suspended", "waits": waits}
        places = {"spawned": f"{place}:{spawned}", "suspended": f"{place}:{suspended}"}
        return one | places | {"info": {}}

    def mutex(name, holder):
        hand = {"coroutine": holder, "how": "held by", "certainty": "known", "since": f"{place}:15"}
        return {"title": f"Mutex '{name}'", "kind": "Mutex", "name": name, "state": "locked",
                "hands": [hand], "info": {}}

    waits = {
        "class": "cycle",
        "findings": [{"class": "cycle", "cycle": ring, "waiters": ["there", "back"], "text": text}],
        "coroutines": [
            waiter(1, "main", 27, 31, [{"object": 2}]),
            waiter(2, "there", 29, 16, [{"object": 0}]),
            waiter(3, "back", 30, 16, [{"object": 1}]),
        ],
        "objects": [
            mutex("bob", "back"),
            mutex("alice", "there"),
            {
                "title": "Scope 'transfers'",
                "kind": "Scope",
                "hands": [
                    {"coroutine": name, "how": "runs in", "certainty": "known"}
                    for name in ("there", "back")
                ],
            },
        ],
    }
    pair = [
        {"coroutine": "back", "place": f"{place}:30", "begun": False},
        {"coroutine": "there", "place": f"{place}:15", "begun": True,
         "stack": ["transfer(Account&, Account&)", "Bank_NobodyWaitsForever::there()"]},
    ]
    return report(
        "Bank.TransfersEnd", run, waits=waits, pair=pair,
        failure={"class": "deadlock", "message": text, "step": 6, "at": 0},
        shrink="fails with production's choices except:\n  +0 ms 'back' runs before 'there'",
        verdict="'back' runs before 'there': without it the run passes; drawn anew from before it"
        " on 4 of 20 runs fail, from after it on 20 of 20",
    )


def race():
    """A lost update beside the run that does not lose it."""
    place = "lost_update/lost_update.hpp"
    runs = []
    for failing in (True, False):
        run = Recorder("failing run" if failing else "nearest passing run")
        main = run.lane("main", "lost_update_sim_test.cpp:9")
        first = run.lane("first", f"{place}:17", parent=main)
        run.step(main, "yields", place=f"{place}:17", wakes=[(first, "spawn")])
        run.step(first, "yields", place=f"{place}:13", wakes=[(first, "yield")])
        second = run.lane("second", f"{place}:18", parent=main)
        run.step(main, "waits", "Coroutine 2 'first'", f"{place}:19", wakes=[(second, "spawn")])
        if failing:
            run.turn("'second' runs before 'first'", second, first, decides=True)
            run.step(second, "yields", place=f"{place}:13", wakes=[(second, "yield")])
            run.step(first, "ends", wakes=[(main, "event")])
            run.step(second, "ends")
            run.step(main, "runs")
        else:
            run.step(first, "ends", wakes=[(main, "event")])
            run.step(second, "yields", place=f"{place}:13", wakes=[(second, "yield")])
            run.step(main, "waits", "Coroutine 3 'second'", f"{place}:20")
            run.step(second, "ends", wakes=[(main, "event")])
            run.step(main, "ends")
        runs.append(run)
    pair = [
        {"coroutine": "second", "place": "examples/lost_update/lost_update.hpp:18", "begun": False},
        {"coroutine": "first", "place": "examples/lost_update/lost_update.hpp:13", "begun": True,
         "stack": ["deposit(int&)", "deposit_twice()::<lambda>"]},
    ]
    message = "lost_update_sim_test.cpp:10: Expected equality of these values:"
    message += "\n  deposit_twice()\n    Which is: 1\n  2"
    return report(
        "Account.DepositsAreNotLost", *runs, pair=pair,
        failure={"class": "safety", "message": message, "signature": "safety", "step": 7, "at": 0},
        shrink="fails with production's choices except:\n  'second' runs before 'first'",
        verdict="+0 ms 'second' runs before 'first'\nwithout it the run passes; drawn anew"
        " from before it on 4 of 20 runs fail, from after it on 20 of 20",
    )


def cluster():
    """Three machines that elect a leader while one crashes and a link is cut."""
    runs = []
    for failing in (True, False):
        title = "failing run" if failing else "nearest passing run"
        run = Recorder(title, ("alpha", "beta", "gamma"))
        where = "raft/node.cpp"
        lanes = []
        for machine, name in enumerate(run.run["machines"]):
            main = run.lane("main", f"raft/cluster_test.cpp:{20 + machine}", machine)
            ticker = run.lane("ticker", f"{where}:41", machine, main)
            server = run.lane("server", f"{where}:44", machine, main)
            lanes.append((main, ticker, server))
            wakes = [(ticker, "spawn"), (server, "spawn")]
            run.step(main, "waits", "Scope 'node'", f"{where}:50", wakes)
            run.step(ticker, "waits", "Timer", f"{where}:63")
            run.step(server, "waits", f"accept on {name}:7000", f"{where}:81")
        for term in range(1, 5):
            run.now += 150 * MS
            leader = term % 3
            main, ticker, server = lanes[leader]
            run.step(ticker, "yields", place=f"{where}:66", wakes=[(server, "event")])
            if term == 3:
                text = "'alpha' and 'gamma' do not reach each other"
                run.fault("partition", text, 0, 2, run.now + 120 * MS)
            for other in (0, 1, 2):
                if other == leader:
                    continue
                lost = term == 3 and 0 in (other, leader) and 2 in (other, leader)
                fate = "lost" if lost else "duplicate" if (term, other) == (2, 1) else "delivered"
                names = run.run["machines"]
                what = f"udp {names[leader]}:7000 -> {names[other]}:7000"
                took = None if lost else (11 + other) * MS
                text = f"RequestVote term={term}"
                run.message("datagram", leader, other, fate, took, 64, what, text)
                if term == 4:
                    run.message("connect", leader, other, "refused", (20 + other) * MS, 0,
                                what.replace("udp", "tcp"))
            if term == 3 and failing:
                run.turn("the datagram of 'alpha' is lost", decides=True)
            if term == 2:
                run.turn("'alpha/server' runs before 'alpha/ticker'", lanes[0][2], lanes[0][1])
            run.step(server, "waits", "votes", f"{where}:90")
            for other in (0, 1, 2):
                if other == leader:
                    continue
                run.now += (11 + other) * MS
                run.step(lanes[other][2], "waits", "Channel 'votes'", f"{where}:97")
                fate, took = ("in flight", None) if term == 4 else ("delivered", 9 * MS)
                text = f"Vote term={term} granted"
                run.message("datagram", other, leader, fate, took, 16, "udp reply", text)
            run.now += 10 * MS
            run.step(server, "yields", place=f"{where}:103", wakes=[(ticker, "event")])
            run.step(ticker, "waits", "Timer", f"{where}:63")
            if term == 2:
                run.fault("crash", "machine 'beta' crashes", 1)
            if term == 3:
                run.fault("restart", "machine 'beta' starts again", 1)
                run.fault("clock", "the clock of 'gamma' jumps by 40 ms", 2)
        end, why = ("fails", "two leaders in term 4") if failing else ("ends", None)
        run.step(lanes[1][2], end, why)
        runs.append(run)
    last = runs[0].run["steps"][-1]
    return report(
        "Raft.OneLeaderATerm", *runs,
        failure={
            "class": "safety",
            "message": "raft/node.cpp:112: ALWAYS 'one leader a term': 2 leaders in term 4",
            "step": last["n"],
            "at": last["at"],
        },
        shrink="fails with production's choices except:\n  the datagram of 'alpha' is lost",
        verdict="the datagram of 'alpha' is lost: without it the run passes",
    )


def long_run(steps=100_000, lanes=240, machines=4):
    """Workers that hand work to one another; `steps` steps, one turn in a thousand."""
    run = Recorder("failing run", [f"node{machine}" for machine in range(machines)])
    for lane in range(lanes):
        run.lane(f"worker {lane}", f"pool/worker.cpp:{12 + lane % 40}", lane % machines)
    state = 12345
    endings = ("waits", "yields", "yields", "waits", "waits", "yields", "waits")
    for index in range(steps):
        state = (state * 1103515245 + 12345) % (1 << 31)
        lane = (state >> 8) % lanes
        other = (lane + 1 + (state >> 16) % 7) % lanes
        if index % 3 == 0:
            run.now += (state >> 12) % 50_000
        if index % 997 == 500:
            text = f"'worker {lane}' runs before 'worker {other}'"
            run.turn(text, lane, other, index // 997 == 60)
        end = endings[index % len(endings)]
        why = f"Channel 'work {other}'" if end == "waits" else None
        wakes = [(other, "event")] if index % 2 else []
        run.step(lane, end, why, f"pool/worker.cpp:{30 + index % 50}", wakes)
        if index % 10 == 0:
            fate = "lost" if index % 170 == 0 else "delivered"
            run.message("data", lane % machines, other % machines, fate,
                        None if fate == "lost" else 200_000, 128, "tcp", f"item {index}")
    run.step(0, "fails", "the sum is wrong")
    last = run.run["steps"][-1]
    return report("Pool.SumsAreRight", run, failure={
        "class": "safety", "message": "the sum is wrong", "step": last["n"], "at": last["at"]})


def hostile():
    """Names and texts that try to be more than text."""
    run = Recorder(f"failing run {HOSTILE}")
    names = (HOSTILE, FOREIGN, LONG, "")
    lanes = [run.lane(name, f"{name}.cpp:1") for name in names]
    run.turn(HOSTILE, lanes[0], lanes[1], decides=True)
    for lane, name in zip(lanes, names):
        run.step(lane, "waits", f"Mutex '{name}'", f"{name}.cpp:2", [(lanes[-1], "event")])
        run.message("data", 0, 0, "delivered", 10, 5, name, name)
    return report(f"Suite.{HOSTILE}", run, shrink=HOSTILE, verdict=FOREIGN,
                  failure={"class": "safety", "message": HOSTILE + LONG, "step": 1, "at": 0},
                  pair=[{"coroutine": name, "place": name, "begun": True, "stack": [name, LONG]}
                        for name in (HOSTILE, FOREIGN)])


def passing():
    """A run that passes, with nothing to explain."""
    run = Recorder("run")
    main = run.lane("main", "quiet_test.cpp:3")
    run.step(main, "waits", "Timer", "quiet_test.cpp:4")
    run.now = 5 * MS
    run.step(main, "ends")
    return report("Quiet.Passes", run)


def nothing():
    """A run that ended before its first step."""
    return report("Quiet.NeverBegan", Recorder("run"))


def desk():
    """A machine that stores a setting, tells another one, and crashes before it syncs."""
    run = Recorder("failing run", machines=("desk", "server"))
    desk = run.lane("main", "tests/desk.cpp:10")
    server = run.lane("main", "tests/desk.cpp:20", machine=1)
    run.line("stores v1", desk)
    run.step(desk, "waits", "sync of 'settings'", "tests/desk.cpp:12")
    run.file("settings", "v1", "v1")
    run.now += MS
    run.line("stores v2", desk)
    run.line("tells the server", desk)
    run.step(desk, "waits", "read of 'server:80'", "tests/desk.cpp:14")
    run.file("settings", "v2", "v1")
    what = "tcp desk:40001 -> server:80"
    run.message("connect", 0, 1, "delivered", took=MS // 4, what=what)
    run.message("data", 0, 1, "delivered", took=MS, size=1204, what=what, preview="v2")
    run.now += MS // 2
    run.step(server, "waits", "read", "tests/desk.cpp:22")
    run.now += MS
    run.line("the desk crashes")
    run.fault("crash", "machine 'desk' crashes", machine=0)
    run.step(server, "ends")
    return report("Desk.Survives", run)


SAMPLES = (deadlock, race, cluster, desk, long_run, hostile, passing, nothing)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 1
    bundle = pathlib.Path(arguments[0]).read_text(encoding="utf-8")
    folder = pathlib.Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    for sample in SAMPLES:
        (folder / f"{sample.__name__}.html").write_text(page(bundle, sample()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
