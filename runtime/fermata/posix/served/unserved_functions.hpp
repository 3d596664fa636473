// SPDX-License-Identifier: Apache-2.0
#pragma once

// FERMATA_UNSERVED_FUNCTIONS(ROW): calls ROW(kind, name) for each function of the C library that is
// defined anew since it touches the world as well, and that nothing serves yet. When a foreign
// library calls one in simulated code, the run fails.

// clang-format off
#define FERMATA_UNSERVED_FUNCTIONS(ROW) \
  ROW(file, mkfifo) \
  ROW(file, mknod) \
  ROW(memory, shmat) \
  ROW(memory, shmdt) \
  ROW(memory, shmget) \
  ROW(process, execv) \
  ROW(process, execvp) \
  ROW(process, getgrgid) \
  ROW(process, getlogin) \
  ROW(process, getpriority) \
  ROW(process, nice) \
  ROW(process, pclose) \
  ROW(process, popen) \
  ROW(process, sched_setscheduler) \
  ROW(process, setgid) \
  ROW(process, setgroups) \
  ROW(process, setpriority) \
  ROW(process, setsid) \
  ROW(process, setuid) \
  ROW(process, system) \
  ROW(process, waitpid) \
  ROW(terminal, tcgetattr) \
  ROW(terminal, tcsetattr) \
  ROW(terminal, ttyname_r)
// clang-format on
