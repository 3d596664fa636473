// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fleet/publisher.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <exception>

#include "fermata/base/error.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"

namespace fermata::sim::fleet {

std::string Publisher::fresh_name() {
  return fmt::format("{}/{}.{}", folder_.temporary(), writer_, ++files_);
}

Publication Publisher::publish(const std::string& directory, const std::string& name,
                               std::string_view bytes) {
  const std::string own = fresh_name();
  const std::string path = directory + '/' + name;
  {
    File file = File::open(own, OpenMode::writing());
    file.write(bytes);
    file.sync();
  }
  const bool is_new = link_once(own, path);
  fs::sync_directory(directory);
  remove_file(own);
  if (is_new) return Publication::New;
  return fs::read_file(path) == bytes ? Publication::Same : Publication::Different;
}

bool Publisher::take_name(const std::string& path, std::string_view bytes) {
  const std::string own = fresh_name();
  fs::write_file(own, bytes);
  const bool is_taken = link_once(own, path);
  remove_file(own);
  return is_taken;
}

void Publisher::replace(const std::string& path, std::string_view bytes) {
  const std::string own = fresh_name();
  fs::write_file(own, bytes);
  try {
    fs::rename(own, path);
  } catch (const InputOutputError& error) {
    if (error.code() != ENOENT) throw;  // The answer to the first attempt was lost.
  }
}

bool link_once(const std::string& own, const std::string& name) {
  std::exception_ptr error;
  try {
    fs::link(own, name);
  } catch (const InputOutputError& refused) {
    if (refused.code() != EEXIST) error = std::current_exception();
  }
  if (fs::status(own).links > 1) return true;
  if (error) std::rethrow_exception(error);
  return false;
}

void remove_file(const std::string& path) {
  try {
    fs::remove(path);
  } catch (const InputOutputError& error) {
    if (error.code() != ENOENT) throw;
  }
}

void make_folder(const std::string& path) {
  try {
    fs::make_directory(path);
  } catch (const InputOutputError& error) {
    if (error.code() != EEXIST) throw;
  }
}

bool exists(const std::string& path) {
  try {
    static_cast<void>(fs::status(path));
    return true;
  } catch (const InputOutputError& error) {
    if (error.code() != ENOENT) throw;
    return false;
  }
}

}  // namespace fermata::sim::fleet
