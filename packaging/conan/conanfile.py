# SPDX-License-Identifier: Apache-2.0
"""A recipe for Conan 2 that builds the tree it lies in:

    conan create fermata/packaging/conan --build=missing

Conan itself has not run this file: it is not to be had where Fermata is tested. There
tests/packages/conan_test.py runs its methods, with classes in place of Conan's that do what those
say they do, on Debian's libraries, and builds a program on what it has installed.
"""

import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps

SOURCES = ("CMakeLists.txt", "LICENSE", "cmake/*", "runtime/*", "sim/*")


class Fermata(ConanFile):
    name = "fermata"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Stackful coroutines for C++20 and their deterministic simulator"
    topics = ("coroutines", "simulation", "testing")
    package_type = "static-library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"tool": [True, False], "libevent": [True, False], "sqlite": [True, False],
               "postgresql": [True, False], "odbc": [True, False]}
    default_options = {"tool": True, "libevent": False, "sqlite": False, "postgresql": False,
                       "odbc": False}

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Fermata runs on Linux")

    def export_sources(self):
        tree = os.path.join(self.recipe_folder, "..", "..")
        for pattern in SOURCES:
            copy(self, pattern, src=tree, dst=self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("boost/1.84.0")
        self.requires("fmt/10.2.1")
        self.requires("gtest/1.14.0")
        self.requires("libuv/1.48.0")
        self.requires("nlohmann_json/3.11.3")
        if self.options.tool:
            self.requires("cli11/2.4.1")
        if self.options.libevent:
            self.requires("libevent/2.1.12")
        if self.options.sqlite:
            self.requires("sqlite3/3.45.3")
        if self.options.postgresql:
            self.requires("libpq/15.5")
        if self.options.odbc:
            self.requires("odbc/2.3.11")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")

    def generate(self):
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["FERMATA_INSTALLED_ONLY"] = True
        toolchain.cache_variables["FERMATA_WERROR"] = False
        toolchain.cache_variables["CMAKE_UNITY_BUILD"] = True
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_CLI11"] = not self.options.tool
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder,
             dst=os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # The package that Fermata installs itself knows its libraries and what each needs.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "Fermata")]
        self.cpp_info.includedirs = ["include"]
