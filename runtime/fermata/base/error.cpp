// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/error.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "fermata/base/exception_ptr_cast.hpp"
#include "fermata/base/text_of.hpp"

namespace fermata {

namespace {

std::string demangled(const std::type_info* type) {
  if (type == nullptr) return "unknown exception";
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? std::string(name.get()) : std::string(type->name());
}

/// Null for a foreign error, which carries no chain.
const backend::Chained* chained_in(const std::exception_ptr& error) noexcept {
  return detail::exception_ptr_cast<backend::Chained>(error);
}

/// Both, when `newer` cannot carry a chain; a cancellation still if `newer` is one.
std::exception_ptr beside(const std::exception_ptr& newer, const std::exception_ptr& older) {
  std::exception_ptr both = std::make_exception_ptr(CompositeError({newer, older}));
  if (!is_cancellation(newer)) return both;
  return Cancellation(message_of(newer)).with_previous(both);
}

std::string composite_text(const std::vector<std::exception_ptr>& errors) {
  std::string text = std::to_string(errors.size()) + (errors.size() == 1 ? " error" : " errors");
  for (const auto& error : errors) text += "; " + message_of(error);
  return text;
}

}  // namespace

Unsupported::Unsupported(std::string_view part, std::string_view reactor)
    : Linkable("reactor '" + std::string(reactor) + "' has no part '" + std::string(part) + "'") {}

InputOutputError::InputOutputError(std::string_view operation, int code)
    : Linkable(std::string(operation) + ": " + detail::errno_text(code)), code_(code) {}

SendFileError::SendFileError(std::string_view path, std::uint64_t sent, int code)
    : Linkable("send file " + std::string(path) + " after " + std::to_string(sent) + " bytes",
               code),
      sent_(sent) {}

RemoteError::RemoteError(std::exception_ptr original)
    : Linkable(type_name_of(original) + ": " + message_of(original)),
      type_name_(type_name_of(original)),
      text_(message_of(original)),
      original_(std::move(original)) {}

CompositeError::CompositeError(std::vector<std::exception_ptr> errors)
    : Linkable(composite_text(errors)), errors_(std::move(errors)) {}

bool is_cancellation(const std::exception_ptr& error) noexcept {
  return detail::exception_ptr_cast<Cancellation>(error) != nullptr;
}

bool carries_error(const std::exception_ptr& error) {
  const auto chain = chain_of(error);
  return !std::all_of(chain.begin(), chain.end(), is_cancellation);
}

bool is_forced_unwind(const std::exception_ptr& error) noexcept {
  return detail::exception_ptr_cast<ForcedUnwind>(error) != nullptr;
}

std::string message_of(const std::exception_ptr& error) {
  if (!error) return "";
  if (const auto* const e = detail::exception_ptr_cast<std::exception>(error)) return e->what();
  if (const auto* const e = detail::exception_ptr_cast<Cancellation>(error)) return e->what();
  return type_name_of(error);
}

std::string type_name_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (...) {
    return demangled(abi::__cxa_current_exception_type());
  }
}

std::string describe(const std::exception_ptr& error) {
  std::string text;
  for (const auto& link : chain_of(error)) {
    if (!text.empty()) text += "\n  previous: ";
    const std::string type = type_name_of(link);
    const std::string message = message_of(link);
    text += message == type ? type : type + ": " + message;
  }
  return text;
}

std::vector<std::exception_ptr> chain_of(const std::exception_ptr& error) {
  std::vector<std::exception_ptr> chain;
  for (std::exception_ptr link = error;
       link && std::find(chain.begin(), chain.end(), link) == chain.end();) {
    chain.push_back(link);
    const backend::Chained* const ours = chained_in(link);
    link = ours != nullptr ? ours->previous() : nullptr;
  }
  return chain;
}

std::exception_ptr link_previous(std::exception_ptr newer, std::exception_ptr older) {
  if (!newer) return older;
  if (!older) return newer;
  const auto ours = chain_of(newer);
  if (std::find(ours.begin(), ours.end(), older) != ours.end()) return newer;
  std::exception_ptr head = older;
  for (auto link = ours.rbegin(); link != ours.rend(); ++link) {
    const backend::Chained* const each = chained_in(*link);
    const std::exception_ptr copy = each != nullptr ? each->with_previous(head) : nullptr;
    if (!copy && !carries_error(older)) return newer;
    head = copy ? copy : beside(*link, older);
  }
  return head;
}

}  // namespace fermata
