// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/sim/cli/commands.hpp"
#include "fermata/sim/cli/verdict.hpp"
#include "fermata/sim/run/environment.hpp"

namespace fermata::sim::cli {
namespace {

std::string names_of_verbs() {
  std::string names;
  for (const Verb& verb : verbs()) names += (names.empty() ? "" : " ") + verb.name;
  return names;
}

std::string flags_of(const Verb& verb) {
  std::string flags = "--help";
  for (const std::string& name : verb.variables) flags += ' ' + flag_of(name);
  return flags;
}

std::string words_of(const Verb& verb) {
  return verb.operand == "SHELL" ? "bash zsh fish" : std::string();
}

std::string bash_script() {
  std::string script = fmt::format(
      "_fermata() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}}\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    mapfile -t COMPREPLY < <(compgen -W '{} --help' -- \"$word\")\n"
      "    return\n"
      "  fi\n"
      "  case $verb in\n",
      names_of_verbs());
  for (const Verb& verb : verbs()) {
    script += fmt::format("    {}) mapfile -t COMPREPLY < <(compgen -W '{} {}' -- \"$word\") ;;\n",
                          verb.name, flags_of(verb), words_of(verb));
  }
  return script +
         "  esac\n"
         "  [[ $word == -* ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "
         "\"$word\")\n"
         "}\n"
         "complete -o filenames -F _fermata fermata\n";
}

std::string zsh_script() {
  return "#compdef fermata\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script();
}

std::string fish_script() {
  std::string script;
  for (const Verb& verb : verbs()) {
    script += fmt::format("complete -c fermata -n __fish_use_subcommand -f -a {} -d '{}'\n",
                          verb.name, verb.help);
    for (const std::string& name : verb.variables) {
      script += fmt::format("complete -c fermata -n '__fish_seen_subcommand_from {}' -l {}{}\n",
                            verb.name, flag_of(name).substr(2), is_switch(name) ? "" : " -r");
    }
    if (!words_of(verb).empty()) {
      script += fmt::format("complete -c fermata -n '__fish_seen_subcommand_from {}' -f -a '{}'\n",
                            verb.name, words_of(verb));
    }
  }
  return script;
}

}  // namespace

int completion_command(const Arguments& arguments) {
  const std::string& shell = arguments.operands.front();
  if (shell != "bash" && shell != "zsh" && shell != "fish") {
    throw UsageError(fmt::format("no completion for '{}'; expected bash, zsh or fish", shell));
  }
  const std::string script =
      shell == "bash" ? bash_script() : (shell == "zsh" ? zsh_script() : fish_script());
  fmt::print("{}", script);
  return kPass;
}

}  // namespace fermata::sim::cli
