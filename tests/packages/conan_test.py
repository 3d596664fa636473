#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipe for Conan, run without Conan: its methods, in Conan's order, on classes in place of
Conan's that do what its documentation says of them.

usage: conan_test.py ROOT
"""

import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile
import types

import consumer


class Options:
    def __init__(self, values):
        self.__dict__.update(values)


class CppInfo:
    def __init__(self):
        self.properties = {}

    def set_property(self, name, value):
        self.properties[name] = value


class ConanFile:
    """What a recipe inherits."""

    def __init__(self, recipe, place):
        self.recipe_folder = str(recipe.parent)
        self.export_sources_folder = self.source_folder = str(place / "sources")
        self.build_folder = str(place / "build")
        self.package_folder = str(place / "package")
        self.settings = Options({"os": "Linux", "build_type": "Debug"})
        self.options = Options(self.default_options)
        self.required, self.cpp_info, self.cache = [], CppInfo(), {}

    def requires(self, reference):
        self.required.append(reference)

    tool_requires = requires


class CMakeToolchain:
    def __init__(self, recipe):
        self.recipe, self.cache_variables = recipe, {}

    def generate(self):
        self.recipe.cache.update(self.cache_variables)


class Dependencies:
    """Of the generators that tell where dependencies are: here they are the system's."""

    def __init__(self, recipe):
        pass

    def generate(self):
        pass


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self):
        told = [f"-D{name}={('ON' if value else 'OFF') if isinstance(value, bool) else value}"
                for name, value in self.recipe.cache.items()]
        consumer.run("cmake", "-G", "Ninja", "-S", self.recipe.source_folder, "-B",
                     self.recipe.build_folder, "-DCMAKE_INSTALL_LIBDIR=lib",
                     f"-DCMAKE_BUILD_TYPE={self.recipe.settings.build_type}", *told)

    def build(self):
        consumer.run("cmake", "--build", self.recipe.build_folder)

    def install(self):
        consumer.run("cmake", "--install", self.recipe.build_folder, "--prefix",
                     self.recipe.package_folder)


def copy(recipe, pattern, src, dst):
    """Conan's pattern goes through folders: `cmake/*` is all below it."""
    for path in pathlib.Path(src).glob(pattern.replace("/*", "/**/*")):
        if path.is_file() and "node_modules" not in path.parts:
            to = pathlib.Path(dst) / path.relative_to(src)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)


def provide_conan():
    def module(name, **members):
        made = types.ModuleType(name)
        made.__dict__.update(members)
        sys.modules[name] = made

    module("conan", ConanFile=ConanFile)
    module("conan.errors", ConanInvalidConfiguration=ValueError)
    module("conan.tools")
    module("conan.tools.cmake", CMake=CMake, CMakeDeps=Dependencies, CMakeToolchain=CMakeToolchain,
           cmake_layout=lambda recipe: None)
    module("conan.tools.files", copy=copy)
    module("conan.tools.gnu", PkgConfigDeps=Dependencies)


def load(path):
    specification = importlib.util.spec_from_file_location("conanfile", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.Fermata


def main(root):
    provide_conan()
    path = root / "packaging/conan/conanfile.py"
    recipe_class = load(path)
    assert recipe_class.version == consumer.version_of(root), recipe_class.version
    assert recipe_class.options.keys() == recipe_class.default_options.keys()
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        recipe = recipe_class(path, place)
        recipe.options.tool = False  # It takes long, and the port for vcpkg builds it.
        recipe.validate()
        recipe.export_sources()
        recipe.layout()
        recipe.requirements()
        recipe.build_requirements()
        recipe.generate()
        recipe.build()
        recipe.package()
        recipe.package_info()
        package = pathlib.Path(recipe.package_folder)
        for folder in recipe.cpp_info.builddirs:
            assert (package / folder / "FermataConfig.cmake").exists(), folder
        assert (package / "licenses/LICENSE").exists() and not (package / "bin").exists()
        assert {each.split("/")[0] for each in recipe.required} >= {"boost", "fmt", "gtest"}
        consumer.build_and_run(os.fspath(package), place)
    print(f"conan: the recipe builds, and a project on it; it requires {recipe.required}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
