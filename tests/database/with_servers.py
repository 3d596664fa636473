#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program beside database servers that exist for as long as it runs.

usage: with_servers.py PROGRAM [ARGUMENT...]

Starts PostgreSQL and MariaDB on 127.0.0.1, each with its data in a folder of its own and on a port
that is free; as an ordinary user when called by root, whom they refuse. PROGRAM finds in its
environment

  FERMATA_TEST_POSTGRESQL, FERMATA_TEST_MARIADB      the URL of a database
  FERMATA_TEST_POSTGRESQL_CONTROL                    a command for the server: with `restart` it is
                                                     killed and started again, and then answers

and its exit code becomes this script's. A server that is not installed is left out, in one line.
"""

import contextlib
import ctypes
import os
import pathlib
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

START_SECONDS = 60
STOP_SECONDS = 20
ATTEMPTS = 5
PASSWORD = "not-to-be-shown"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def program(name, *folders):
    """The path of a program, in PATH or else in one of `folders`, which are patterns."""
    found = shutil.which(name)
    for pattern in folders:
        for candidate in sorted(pathlib.Path("/").glob(pattern.lstrip("/")), reverse=True):
            if os.access(candidate / name, os.X_OK):
                return str(candidate / name)
    return found


def ends_with_this_script(signum):
    """What a child calls to get `signum` when this script is gone, however that came."""
    set_death_signal = 1
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(set_death_signal, signum)


class Server:
    """A server process with a folder of its own, which goes with it."""

    user = None  # Who runs it when this script is run by root.
    stop_signal = signal.SIGKILL  # What it leaves nothing behind with.

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fermata_server_"))
        self.process = None
        self.port = None
        self.log = self.folder / "log"
        if self.as_user:
            os.chown(self.folder, self.as_user.pw_uid, self.as_user.pw_gid)

    @property
    def as_user(self):
        return pwd.getpwnam(self.user) if os.geteuid() == 0 else None

    def popen(self, command):
        account = self.as_user
        identity = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} \
            if account else {}
        with open(self.log, "ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    cwd=self.folder, start_new_session=True,
                                    preexec_fn=ends_with_this_script(self.stop_signal),
                                    **identity)

    def run(self, command):
        self.process = self.popen(command)
        if self.process.wait() != 0:
            raise RuntimeError(f"{command[0]} failed:\n{self.log.read_text(errors='replace')}")
        self.process = None

    def prepare(self):
        """Makes what is in its folder."""
        raise NotImplementedError

    def start(self):
        self.prepare()
        for _ in range(ATTEMPTS):
            self.port = free_port()
            if self.launch():
                return
        raise RuntimeError(f"no server:\n{self.log.read_text(errors='replace')}")

    def launch(self):
        """Whether it answers on its port."""
        self.process = self.popen(self.command())
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if answers(self.port) and self.is_ready():
                return True
            time.sleep(0.05)
        self.kill()
        return False

    def stop(self):
        if self.process is None:
            return
        self.process.send_signal(self.stop_signal)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_SECONDS)
        self.kill()

    def kill(self):
        """With everything that it has started."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None

    def restart(self):
        self.kill()
        deadline = time.monotonic() + START_SECONDS
        while not self.launch():
            if time.monotonic() > deadline:
                raise RuntimeError(f"no restart:\n{self.log.read_text(errors='replace')}")

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class PostgreSQL(Server):
    user = "postgres"
    stop_signal = signal.SIGQUIT  # At once; killed, it would leave its shared memory behind.
    server = program("postgres", "/usr/lib/postgresql/*/bin")
    tools = pathlib.Path(server).parent if server else None

    def prepare(self):
        self.data = self.folder / "data"
        password = self.folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        self.run([str(self.tools / "initdb"), "-D", str(self.data), "-U", "fermata", "-A",
                  "scram-sha-256", "--pwfile", str(password), "--no-sync", "--encoding=UTF8",
                  "--locale=C.UTF-8"])

    def command(self):
        return [self.server, "-D", str(self.data), "-p", str(self.port), "-h", "127.0.0.1", "-k",
                str(self.folder), "-F", "-c", "max_connections=40"]

    def is_ready(self):
        status = subprocess.run([str(self.tools / "pg_isready"), "-q", "-h", "127.0.0.1", "-p",
                                 str(self.port)], check=False)
        return status.returncode == 0

    def url(self):
        return f"postgresql://fermata:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def environment(self):
        return {"FERMATA_TEST_POSTGRESQL": self.url()}


class MariaDB(Server):
    user = "mysql"
    server = program("mariadbd", "/usr/sbin") or program("mysqld", "/usr/sbin")
    tools = program("mariadb-install-db") or program("mysql_install_db")

    def prepare(self):
        self.data = self.folder / "data"
        self.run([self.tools, "--no-defaults", f"--datadir={self.data}", "--skip-test-db",
                  "--auth-root-authentication-method=normal"])
        self.script = self.folder / "first.sql"
        self.script.write_text("CREATE DATABASE IF NOT EXISTS fermata;\n"
                               "CREATE USER IF NOT EXISTS 'fermata'@'%' IDENTIFIED BY "
                               f"'{PASSWORD}';\nGRANT ALL ON *.* TO 'fermata'@'%';\n")
        self.script.chmod(0o644)

    def command(self):
        return [self.server, "--no-defaults", f"--datadir={self.data}", f"--port={self.port}",
                "--bind-address=127.0.0.1", f"--socket={self.folder}/socket",
                f"--pid-file={self.folder}/pid", f"--init-file={self.script}",
                "--character-set-server=utf8mb4", "--innodb-flush-log-at-trx-commit=0",
                "--skip-name-resolve"]

    def is_ready(self):
        return b"ready for connections" in self.log.read_bytes()

    def environment(self):
        return {"FERMATA_TEST_MARIADB":
                f"mariadb://fermata:{PASSWORD}@127.0.0.1:{self.port}/fermata"}


class Control:
    """Answers the commands of FERMATA_TEST_POSTGRESQL_CONTROL: a line each way on a socket."""

    def __init__(self, server):
        self.server = server
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setblocking(False)

    def environment(self):
        code = ("import socket, sys; s = socket.create_connection(('127.0.0.1', "
                f"{self.listener.getsockname()[1]})); s.sendall(sys.argv[1].encode() + b'\\n'); "
                "sys.exit(s.makefile().readline() != 'done\\n')")
        return {"FERMATA_TEST_POSTGRESQL_CONTROL": f"{sys.executable} -c {shlex.quote(code)}"}

    def serve(self):
        with contextlib.suppress(BlockingIOError):
            client, _ = self.listener.accept()
            with client, client.makefile("rw") as lines:
                client.setblocking(True)
                if lines.readline() == "restart\n":
                    self.server.restart()
                    lines.write("done\n")


def run_beside(servers, controls, arguments):
    environment = dict(os.environ)
    for each in [*servers, *controls]:
        environment.update(each.environment())
    child = subprocess.Popen(arguments, env=environment,
                             preexec_fn=ends_with_this_script(signal.SIGKILL))
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return child.wait(timeout=0.02 if controls else None)
            for control in controls:
                control.serve()
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(each, lambda number, _: sys.exit(128 + number))
    servers, controls = [], []
    try:
        for kind in (PostgreSQL, MariaDB):
            if not kind.server or not kind.tools:
                print(f"with_servers: {kind.__name__} is not installed: left out")
                continue
            servers.append(kind())
            servers[-1].start()
            if kind is PostgreSQL:
                controls.append(Control(servers[-1]))
        sys.stdout.flush()
        status = run_beside(servers, controls, sys.argv[1:])
    finally:
        for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(each, signal.SIG_IGN)
        for server in servers:
            server.remove()
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
