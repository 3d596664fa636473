// SPDX-License-Identifier: Apache-2.0

// `fermata inspect`: which functions of the C library a file imports.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <regex>
#include <string>

#include "tests/end_to_end/cli_specimens.hpp"

namespace fermata::testing {
namespace {

/// The file of an installed library; empty, and why in `error`, when there is none.
std::string file_of(const char* library, std::string& error) {
  void* const loaded = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  link_map* map = nullptr;
  if (loaded == nullptr || ::dlinfo(loaded, RTLD_DI_LINKMAP, &map) != 0) {
    error = ::dlerror();
    return "";
  }
  std::string path = map->l_name;
  ::dlclose(loaded);
  return path;
}

bool names(const Finished& finished, const std::string& function) {
  return std::regex_search(finished.output, std::regex("\\b" + function + "\\b"));
}

class Inspect : public Cli {
 protected:
  /// Expects `fermata inspect` to tell all four classes of an installed library.
  void expect_classes(const char* library, const std::string& served) {
    std::string error;
    const std::string path = file_of(library, error);
    if (path.empty()) GTEST_SKIP() << error;
    const Finished finished = run_shell(tool() + " inspect " + path);
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    for (const char* line : {"\n  served ", "\n  passed ", "\n  not served ", "\n  unknown "}) {
      EXPECT_TRUE(says(finished, line));
    }
    EXPECT_EQ(finished.output.find(path + '\n'), 0u) << finished.output;
    EXPECT_FALSE(names(finished, served)) << finished.output;
    const Finished all = run_shell(tool() + " inspect --verbose " + path);
    EXPECT_TRUE(names(all, served)) << all.output;
    EXPECT_TRUE(names(all, "strlen")) << all.output;
  }
};

TEST_F(Inspect, TellsTheClassesOfHiredis) { expect_classes("libhiredis.so.0.14", "connect"); }

TEST_F(Inspect, TellsTheClassesOfKafkasClient) {
  expect_classes("librdkafka.so.1", "mtx_lock");
  std::string error;
  const std::string path = file_of("librdkafka.so.1", error);
  if (path.empty()) GTEST_SKIP() << error;
  const Finished finished = run_shell(tool() + " inspect --verbose " + path);
  EXPECT_EQ(finished.output.find("SSL_read"), std::string::npos) << "it is another library's";
  EXPECT_TRUE(says(finished, "libssl.so.3"));
}

TEST_F(Inspect, WritesALineOfJsonForEachFile) {
  const std::string json = folder_ + "/found.json";
  const Finished finished =
      run_shell(tool() + " inspect --json " + json + " " + tool() + " /bin/true");
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  const std::string text = contents_of(json);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(text.find("{\"file\":\"" + tool() + "\",\"served\":{"), 0u) << text;
  EXPECT_NE(text.find("\"heap\":["), std::string::npos) << text;
}

TEST_F(Inspect, TellsOfEachFileThatCannotBeRead) {
  expect_refused(tool() + " inspect /etc/passwd " + tool(), "/etc/passwd is not an ELF file");
  const Finished finished = run_shell(tool() + " inspect /nowhere/lib.so " + tool());
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_TRUE(says(finished, "cannot read /nowhere/lib.so: No such file or directory"));
  EXPECT_TRUE(says(finished, "\n  served ")) << "the others are looked into";
  expect_refused(tool() + " inspect", "FILE is required");
}

}  // namespace
}  // namespace fermata::testing
