// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/served/system_table.hpp"

#include "fermata/posix/served/real.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::posix {

void fill_system_table() noexcept {
  os::SystemCalls& calls = os::kernel;
  calls.accept4 = FERMATA_REAL(accept4);
  calls.bind = FERMATA_REAL(bind);
  calls.close = FERMATA_REAL(close);
  calls.connect = FERMATA_REAL(connect);
  calls.dup2 = FERMATA_REAL(dup2);
  calls.dup3 = FERMATA_REAL(dup3);
  calls.epoll_create1 = FERMATA_REAL(epoll_create1);
  calls.epoll_ctl = FERMATA_REAL(epoll_ctl);
  calls.epoll_pwait2 = FERMATA_REAL(epoll_pwait2);
  calls.epoll_wait = FERMATA_REAL(epoll_wait);
  calls.eventfd = FERMATA_REAL(eventfd);
  calls.fcntl = FERMATA_REAL(fcntl);
  calls.fstat = FERMATA_REAL(fstat);
  calls.getaddrinfo = FERMATA_REAL(getaddrinfo);
  calls.getnameinfo = FERMATA_REAL(getnameinfo);
  calls.ftruncate = FERMATA_REAL(ftruncate);
  calls.getpeername = FERMATA_REAL(getpeername);
  calls.getsockname = FERMATA_REAL(getsockname);
  calls.getsockopt = FERMATA_REAL(getsockopt);
  calls.ioctl = FERMATA_REAL(ioctl);
  calls.listen = FERMATA_REAL(listen);
  calls.mmap = FERMATA_REAL(mmap);
  calls.munmap = FERMATA_REAL(munmap);
  calls.open = FERMATA_REAL(open);
  calls.pipe2 = FERMATA_REAL(pipe2);
  calls.poll = FERMATA_REAL(poll);
  calls.ppoll = FERMATA_REAL(ppoll);
  calls.pread = FERMATA_REAL(pread);
  calls.pselect = FERMATA_REAL(pselect);
  calls.pthread_cond_clockwait = FERMATA_REAL(pthread_cond_clockwait);
  calls.pthread_cond_signal = FERMATA_REAL(pthread_cond_signal);
  calls.pthread_cond_wait = FERMATA_REAL(pthread_cond_wait);
  calls.pthread_getattr_np = FERMATA_REAL(pthread_getattr_np);
  calls.pthread_mutex_lock = FERMATA_REAL(pthread_mutex_lock);
  calls.pthread_mutex_trylock = FERMATA_REAL(pthread_mutex_trylock);
  calls.pthread_mutex_unlock = FERMATA_REAL(pthread_mutex_unlock);
  calls.pthread_self = FERMATA_REAL(pthread_self);
  calls.read = FERMATA_REAL(read);
  calls.readv = FERMATA_REAL(readv);
  calls.recv = FERMATA_REAL(recv);
  calls.recvmsg = FERMATA_REAL(recvmsg);
  calls.send = FERMATA_REAL(send);
  calls.sendmsg = FERMATA_REAL(sendmsg);
  calls.setsockopt = FERMATA_REAL(setsockopt);
  calls.shutdown = FERMATA_REAL(shutdown);
  calls.socket = FERMATA_REAL(socket);
  calls.socketpair = FERMATA_REAL(socketpair);
  calls.syscall = FERMATA_REAL(syscall);
  calls.timerfd_create = FERMATA_REAL(timerfd_create);
  calls.timerfd_gettime = FERMATA_REAL(timerfd_gettime);
  calls.timerfd_settime = FERMATA_REAL(timerfd_settime);
  calls.sigaction = FERMATA_REAL(sigaction);
  calls.signal = FERMATA_REAL(signal);
  calls.pthread_sigmask = FERMATA_REAL(pthread_sigmask);
  calls.kill = FERMATA_REAL(kill);
  calls.raise = FERMATA_REAL(raise);
  calls.getpid = FERMATA_REAL(getpid);
  calls.write = FERMATA_REAL(write);
  calls.writev = FERMATA_REAL(writev);
}

}  // namespace fermata::posix
