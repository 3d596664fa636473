// SPDX-License-Identifier: Apache-2.0

// What is said of the libraries that are loaded, and what may be done with them.

#include "fermata/sim/inspect/loaded_libraries.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/sim/posix/allowed_functions.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

class LoadedLibraries : public test::WorldFixture {
 protected:
  ~LoadedLibraries() override {
    detail::allow_unserved({});
    if (library_ != nullptr) ::dlclose(library_);
  }

  void load(const char* path) {
    library_ = ::dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
  }

  /// What is wrong with the libraries; empty for nothing.
  static std::string complaint(const detail::ImportRules& rules) {
    try {
      detail::check_loaded_libraries(rules);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  void* library_ = nullptr;
};

TEST_F(LoadedLibraries, AreNamedWithWhatIsNotServed) {
  load(FERMATA_TEST_IMPORTER);
  const std::string text = detail::unserved_text();
  EXPECT_NE(text.find(" what is not served: "), std::string::npos) << text;
  EXPECT_NE(text.find("; `fermata inspect` lists it"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST_F(LoadedLibraries, WithUnservedFunctionsAreRefusedByStrictRulesOnly) {
  load(FERMATA_TEST_IMPORTER);
  EXPECT_EQ(complaint({}), "");
  const std::string strict = complaint({.strict = true, .allowed = {}});
  EXPECT_EQ(strict.find("FERMATA_STRICT_POSIX: expected libraries whose functions are "), 0u);
  EXPECT_NE(strict.find("\n  libfermata_test_importer.so imports, not served: execv"),
            std::string::npos)
      << strict;
  EXPECT_NE(strict.find("\n  libfermata_test_importer.so imports, unknown: ctermid"),
            std::string::npos)
      << strict;
  const std::string allowed = complaint({.strict = true, .allowed = {"execv"}});
  EXPECT_EQ(allowed.find("libfermata_test_importer.so imports, not served"), std::string::npos)
      << allowed;
}

TEST_F(LoadedLibraries, WithOldVersionsAreAlwaysRefused) {
  load(FERMATA_TEST_OLD_CONDITION);
  const std::string refusal = complaint({});
  EXPECT_NE(refusal.find("is refused: it imports pthread_cond_wait@GLIBC_2.2.5"), std::string::npos)
      << refusal;
}

TEST_F(LoadedLibraries, MayCallWhatIsAllowedAndGetAnError) {
  detail::allow_unserved({"execv"});
  world_->node("main", [] {
    char name[] = "/bin/true";
    char* const arguments[] = {name, nullptr};
    EXPECT_EQ(::execv(name, arguments), -1);
    EXPECT_EQ(errno, ENOSYS);
  });
  run();
}

TEST_F(LoadedLibraries, MayNotCallWhatSomebodyElseIsAllowed) {
  detail::allow_unserved({"popen"});
  world_->node("main", [] {
    char name[] = "/bin/true";
    char* const arguments[] = {name, nullptr};
    EXPECT_EQ(::execv(name, arguments), -1);
  });
  world_->run();
  ASSERT_TRUE(world_->failure());
  EXPECT_NE(world_->failure()->message.find(" calls execv(), which is not served in simulated"),
            std::string::npos);
}

}  // namespace
}  // namespace fermata::sim
