// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/process/shared_status.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kBytes = sizeof(StatusPage);

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(::open(path.c_str(), flags, 0644)) {
    if (number_ < 0) throw InputOutputError("cannot open " + path, errno);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { os::kernel.close(number_); }

  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

std::shared_ptr<StatusPage> mapped(const Descriptor& file, const std::string& path) {
  FERMATA_ASSERT(file.number() >= 0);
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (memory == MAP_FAILED) throw InputOutputError("cannot map " + path, errno);
  return {static_cast<StatusPage*>(memory), [](StatusPage* page) { ::munmap(page, kBytes); }};
}

}  // namespace

SharedStatus SharedStatus::create(const std::string& path) {
  FERMATA_ASSERT(!path.empty());
  const Descriptor file(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC);
  // Without room a store into the page would be a SIGBUS.
  const int error = ::posix_fallocate(file.number(), 0, kBytes);
  if (error != 0) throw InputOutputError("cannot write " + path, error);
  auto page = mapped(file, path);
  new (page.get()) StatusPage;
  return SharedStatus(std::move(page));
}

SharedStatus SharedStatus::open(const std::string& path) {
  if (path.empty()) return SharedStatus(std::make_shared<StatusPage>());
  const Descriptor file(path, O_RDWR | O_CLOEXEC);
  if (::lseek(file.number(), 0, SEEK_END) < static_cast<off_t>(kBytes)) {
    throw Error(path + " is not the status page of a run");
  }
  auto page = mapped(file, path);
  if (page->magic != StatusPage::kMagic) throw Error(path + " is not the status page of a run");
  return SharedStatus(std::move(page));
}

void SharedStatus::name(std::string_view test) const noexcept {
  const std::size_t length = std::min(test.size(), sizeof page_->test - 1);
  FERMATA_ASSERT(length < sizeof page_->test);
  std::copy_n(test.data(), length, page_->test);
  page_->test[length] = '\0';
}

}  // namespace fermata::sim
