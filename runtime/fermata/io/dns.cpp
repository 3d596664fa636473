// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/dns.hpp"

#include "fermata/io/request_wait.hpp"

namespace fermata {

std::vector<Address> resolve(std::string_view host, std::string_view service,
                             const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  backend::NameRequest request(current_runtime().reactor().names(), host, service);
  detail::finish(request, options, place);
  return request.take_addresses();
}

HostName reverse_resolve(const Address& address, const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  backend::NameRequest request(current_runtime().reactor().names(), address);
  detail::finish(request, options, place);
  return request.take_name();
}

}  // namespace fermata
