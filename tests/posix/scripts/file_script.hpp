// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scripts of calls that concern files, in a directory that is empty at first.

#include <cstdint>
#include <string>

#include "tests/posix/scripts/script.hpp"

namespace fermata::test {

/// The script of this number, always the same.
[[nodiscard]] Script draw_file_script(std::uint64_t number);
/// Goes to an empty directory: one below `place`, in which nothing is but what this has made.
void prepare_files(const std::string& place);

/// One of few paths, by a digit of the value.
[[nodiscard]] const char* path_of(const Step& step, unsigned digit);

Perform open_file;
Perform open_file_at;
Perform close_file;
Perform duplicate_file;
Perform read_file;
Perform read_file_at;
Perform write_file;
Perform write_file_at;
Perform seek_file;
Perform truncate_file;
Perform truncate_path;
Perform allocate_file;
Perform sync_file;
Perform append_from_now_on;
Perform copy_file;
Perform map_file;
Perform write_stream;
Perform tell_status;
Perform tell_status_of_file;
Perform tell_access;
Perform change_mode;
Perform change_times;
Perform remove_path;
Perform make_directory;
Perform rename_path;
Perform link_path;
Perform make_link;
Perform read_link;
Perform list_directory;
Perform change_directory;
Perform resolve_path;
Perform lock_range;
Perform lock_file;
Perform name_socket;

}  // namespace fermata::test
