#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether layering.py finds planted violations, and finds none where there is none."""

from unittest import mock

import layering
from staircase import KNOWN_CIRCLES, MAY_INCLUDE

PLANTED = [
    ("runtime/fermata/base/a.hpp", '#include "fermata/core/event.hpp"'),
    ("runtime/fermata/context/a.cpp", '#include "fermata/core/event.hpp"'),
    ("runtime/fermata/core/a.cpp", "#include <boost/context/detail/fcontext.hpp>"),
    ("runtime/fermata/core/a.cpp", '#include "fermata/reactor/part.hpp"'),
    ("runtime/fermata/core/a.cpp", '#include "event.hpp"'),
    ("runtime/fermata/core/a.cpp", "#include <gtest/gtest.h>"),
    ("runtime/fermata/io/a.cpp", "#include <uv.h>"),
    ("runtime/fermata/uv/a.cpp", "#include <ev.h>"),
    ("runtime/fermata/poll/a.cpp", "#include <liburing.h>"),
    ("runtime/fermata/uring/a.cpp", '#include "fermata/poll/watches.hpp"'),
    ("runtime/fermata/os/a.cpp", "#include <event2/event.h>"),
    ("runtime/fermata/io/a.cpp", '#include "fermata/os/clock.hpp"'),
    ("runtime/fermata/poll/a.cpp", '#include "fermata/uv/loop.hpp"'),
    ("sim/fermata/sim/world/a.cpp", '#include "fermata/os/clock.hpp"'),
    ("runtime/fermata/poll/a.cpp", '#include "fermata/host/guest.hpp"'),
    ("runtime/fermata/uv/a.cpp", "#include <boost/asio/io_context.hpp>"),
    ("runtime/fermata/loop/a.cpp", "#include <glib.h>"),
    ("sim/fermata/sim/world/a.cpp", '#include "fermata/host/guest.hpp"'),
    ("runtime/fermata/io/a.cpp", '#include "fermata/sim/world/world.hpp"'),
    ("runtime/fermata/uv/a.cpp", '#include "fermata/io/tcp.hpp"'),
    ("runtime/fermata/loop/a.cpp", '#include "fermata/uv/reactor.hpp"'),
    ("runtime/fermata/loop/a.cpp", '#include "fermata/drivers/factory.hpp"'),
    ("runtime/fermata/uv/a.cpp", '#include "tests/support/checks.hpp"'),
    ("sim/fermata/sim/world/a.cpp", '#include "fermata/uv/reactor.hpp"'),
    ("sim/fermata/sim/world/a.cpp", "#include <fermata/uv/reactor.hpp>"),
    ("sim/fermata/sim/world/a.cpp", '#include "tests/support/checks.hpp"'),
    ("properties/models/a.hpp", '#include "fermata/core/event.hpp"'),
    ("properties/models/a.hpp", '#include "tests/support/checks.hpp"'),
    ("properties/models/a.hpp", "#include <rapidcheck.h>"),
    ("bench/a.cpp", '#include "tests/support/checks.hpp"'),
    ("examples/echo/main.cpp", '#include "tests/support/checks.hpp"'),
    ("runtime/fermata/runtime.hpp", '#include "fermata/uv/reactor.hpp"'),
    ("sim/fermata/sim/world/a.cpp", "#include <fermata/runtime.hpp>"),
    ("sim/fermata/sim/world/a.cpp", "#include <gtest/gtest-spi.h>"),
    ("runtime/fermata/db/a.cpp", '#include "fermata/db/sqlite/driver.hpp"'),
    ("runtime/fermata/db/a.cpp", "#include <sqlite3.h>"),
    ("runtime/fermata/loop/a.cpp", '#include "fermata/loop/tcp/server.hpp"'),
    ("sim/fermata/sim/tape/a.hpp", '#include "fermata/sim/strategy/pct.hpp"'),
    ("sim/fermata/sim/record/a.cpp", '#include "fermata/sim/world/world.hpp"'),
    ("sim/fermata/sim/net/a.cpp", '#include "fermata/sim/fs/disk.hpp"'),
    ("sim/fermata/sim/net/a.cpp", '#include "fermata/sim/new/a.hpp"'),
    ("sim/fermata/sim/net/a.cpp", "#include <rapidcheck.h>"),
]

LEGAL = [
    ("runtime/fermata/context/a.cpp", "#include <boost/context/detail/fcontext.hpp>"),
    ("runtime/fermata/core/a.cpp", '#include "fermata/context/stack.hpp"'),
    ("runtime/fermata/uv/a.cpp", "#include <uv.h>\nauto t = std::chrono::system_clock::now();"),
    ("runtime/fermata/io/a.hpp", '#include "fermata/reactor/part.hpp"'),
    ("runtime/fermata/poll/a.cpp", '#include <ev.h>\n#include "fermata/os/clock.hpp"'),
    ("runtime/fermata/host/a.hpp", '#include <glib.h>\n#include "fermata/poll/reactor.hpp"'),
    ("runtime/fermata/uv/a.hpp", '#include "fermata/host/guest.hpp"'),
    ("runtime/fermata/runtime.hpp", '#include "fermata/io/tcp.hpp"'),
    ("properties/laws.cpp", '#include "tests/support/checks.hpp"'),
    ("examples/echo/echo_sim_test.cpp", '#include "tests/support/checks.hpp"'),
    ("bench/a.cpp", '#include "floor/mini.hpp"\n#include <uv.h>'),
    ("runtime/fermata/db/drivers/a.cpp", '#include "fermata/db/sqlite/driver.hpp"'),
    ("sim/fermata/sim/run/a.cpp", "#include <gtest/gtest-spi.h>"),
    ("sim/fermata/sim/world/a.cpp", '#include "fermata/sim/net/link.hpp"'),
]


def header(folder, name="a.hpp"):
    """(include root, how an include names the header `name` of `folder`)."""
    tree, _, rest = folder.partition("/")
    own = {"runtime": "fermata", "sim": "fermata/sim" if rest else "fermata"}.get(tree)
    return tree, "/".join(part for part in (own, rest, name) if part)


def path_of(folder, name="a.hpp"):
    if folder == "models":
        return f"properties/models/{name}"
    return "/".join(header(folder, name))


def include(folder, name="a.hpp"):
    return f'#include "{header(folder, name)[1]}"\n'


def circle(folder, size, name="circle"):
    """`size` headers of `folder`, each of which includes the next."""
    return {
        path_of(folder, f"{name}{at}.hpp"): include(folder, f"{name}{(at + 1) % size}.hpp")
        for at in range(size)
    }


def model_house():
    """Sources that are just what the tables say."""
    house = {
        path_of(folder): "".join(include(each) for each in sorted(needed))
        for folder, needed in MAY_INCLUDE.items()
    }
    for folder, size in KNOWN_CIRCLES.items():
        house |= circle(folder, size)
    return house


def test_includes():
    for path, text in PLANTED:
        complaints = list(layering.check_includes({path: f"int first;\n{text}\n"}))
        assert len(complaints) == 1, (path, text, complaints)
        assert complaints[0].startswith(f"{path}:2: "), complaints
    for path, text in LEGAL:
        complaints = list(layering.check_includes({path: text}))
        assert not complaints, complaints


def expect(complaints, wanted):
    assert any(wanted in complaint for complaint in complaints), (wanted, complaints)


def test_house():
    house = model_house()
    assert not layering.check(house), layering.check(house)

    for folder in list(MAY_INCLUDE):
        with mock.patch.dict(MAY_INCLUDE):
            del MAY_INCLUDE[folder]
            expect(layering.check(house), f"{folder}: has no row")
    expect(layering.check(house | {path_of("sim/new"): ""}), "sim/new: has no row")
    without = {path: text for path, text in house.items() if path != path_of("sim/cli")}
    expect(layering.check(without), "sim/cli: has a row in the table and no sources")
    idle = house | {path_of("sim/cli"): ""}
    expect(layering.check(idle), "sim/cli: its row names sim/run, which it does not include")

    lost = house | {"bench/a.cpp": '#include <fermata/sim/net/lost.hpp>\n'}
    expect(layering.check(lost), "bench/a.cpp:1: fermata/sim/net/lost.hpp exists neither")

    upward = house | {path_of("sim/tape", "b.hpp"): include("sim/strategy")}
    expect(layering.check(upward), "sim/tape may not include sim/strategy")
    expect(layering.check(upward), "in a circle: sim/strategy, sim/tape")
    graph = layering.graph_of(upward, layering.folder_of)
    assert ("sim/tape", "sim/strategy") in layering.upward(graph)
    with mock.patch.dict(MAY_INCLUDE, {"sim/tape": MAY_INCLUDE["sim/tape"] | {"sim/strategy"}}):
        expect(layering.check(upward), "sim/tape: its row names sim/strategy, which has no earlier")


def test_rooms():
    house = model_house()
    assert not layering.check(house | circle("sim/base", 3))
    four = house | circle("sim/base", 4)
    expect(layering.check(four), "4 rooms of sim/base include each other")
    for folder, size in KNOWN_CIRCLES.items():
        grown = house | circle(folder, size + 1)
        expect(layering.check(grown), f"{size + 1} rooms of {folder} include each other")
        first = path_of(folder, "circle0.hpp")
        shrunk = {path: text for path, text in house.items() if path != first}
        expect(layering.check(shrunk), f"{folder}: 0 rooms in a circle are left")
        twice = house | circle(folder, 4, "other")
        expect(layering.check(twice), f"{size} rooms of {folder} include each other")


if __name__ == "__main__":
    test_includes()
    test_house()
    test_rooms()
