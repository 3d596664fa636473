// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/names.hpp"

#include <netdb.h>

#include <memory>
#include <optional>

#include "fermata/base/assert.hpp"
#include "fermata/os/socket_address.hpp"

namespace fermata::uv::detail {

namespace {

std::optional<NameFailure> failure_of(int status) noexcept {
  switch (status) {
    case 0:
      return std::nullopt;
    case UV_EAI_NONAME:
      return NameFailure::NotFound;
    case UV_EAI_NODATA:
    case UV_EAI_ADDRFAMILY:
      return NameFailure::NoAddress;
    case UV_EAI_SERVICE:
      return NameFailure::UnknownService;
    case UV_EAI_AGAIN:
    case UV_EAI_CANCELED:
      return NameFailure::TryAgain;
    default:
      return NameFailure::Failed;
  }
}

}  // namespace

struct Names::Forward {
  Names& names;
  backend::NameQuery& query;
  uv_getaddrinfo_t request;

  static void done(uv_getaddrinfo_t* request, int status, addrinfo* answers) noexcept {
    auto* const self = static_cast<Forward*>(request->data);
    for (const addrinfo* each = answers; each != nullptr; each = each->ai_next) {
      self->query.addresses.push_back(os::from_native(*each->ai_addr));
    }
    uv_freeaddrinfo(answers);
    finish(self, status);
  }
};

struct Names::Reverse {
  Names& names;
  backend::NameQuery& query;
  uv_getnameinfo_t request;

  static void done(uv_getnameinfo_t* request, int status, const char* host,
                   const char* service) noexcept {
    auto* const self = static_cast<Reverse*>(request->data);
    if (status == 0) self->query.name = {host, service};
    finish(self, status);
  }
};

template <class Job>
void Names::finish(Job* job, int status) noexcept {
  job->names.loop_.complete([job, status] {
    const std::unique_ptr<Job> ended(job);
    FERMATA_ASSERT(job->query.job == &job->request);
    job->names.finished(job->query, failure_of(status));
  });
}

void Names::enqueue(backend::NameQuery& query) {
  int status = 0;
  if (query.kind == backend::NameQuery::Kind::Forward) {
    auto job = std::unique_ptr<Forward>(new Forward{*this, query, {}});
    job->request.data = job.get();
    addrinfo hints = {};
    hints.ai_family = query.host.find(':') == std::string::npos ? AF_INET : AF_INET6;
    hints.ai_socktype = SOCK_STREAM;
    const char* service = query.service.empty() ? nullptr : query.service.c_str();
    status = uv_getaddrinfo(loop_.get(), &job->request, &Forward::done, query.host.c_str(), service,
                            &hints);
    query.job = &job->request;
    if (status == 0) job.release();
  } else {
    auto job = std::unique_ptr<Reverse>(new Reverse{*this, query, {}});
    job->request.data = job.get();
    const os::NativeAddress native(query.address);
    status = uv_getnameinfo(loop_.get(), &job->request, &Reverse::done, native.get(), 0);
    query.job = &job->request;
    if (status == 0) job.release();
  }
  if (status != 0) throw DnsError(query.host, NameFailure::Failed);
}

void Names::withdraw(backend::NameQuery& query) noexcept {
  FERMATA_ASSERT(query.job != nullptr);
  uv_cancel(static_cast<uv_req_t*>(query.job));
}

}  // namespace fermata::uv::detail
