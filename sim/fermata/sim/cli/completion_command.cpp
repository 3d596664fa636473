// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/sim/cli/commands.hpp"
#include "fermata/sim/cli/manual_page.hpp"
#include "fermata/sim/cli/verdict.hpp"
#include "fermata/sim/run/environment.hpp"

namespace fermata::sim::cli {
namespace {

/// A verb's name of two words, such as "fleet plan", is a group and a verb in it.
std::string group_of(const Verb& verb) {
  const std::size_t space = verb.name.find(' ');
  return space == std::string::npos ? std::string() : verb.name.substr(0, space);
}
std::string last_word_of(const Verb& verb) { return verb.name.substr(verb.name.find(' ') + 1); }

/// What may come first, each once.
std::vector<std::string> first_words() {
  std::vector<std::string> words;
  for (const Verb& verb : verbs()) {
    const std::string word = verb.name.substr(0, verb.name.find(' '));
    if (words.empty() || words.back() != word) words.push_back(word);
  }
  return words;
}

/// What may come after a group's name, by the group.
std::map<std::string, std::vector<std::string>> words_of_groups() {
  std::map<std::string, std::vector<std::string>> groups;
  for (const Verb& verb : verbs()) {
    if (!group_of(verb).empty()) groups[group_of(verb)].push_back(last_word_of(verb));
  }
  return groups;
}

std::string flags_of(const Verb& verb) {
  std::string flags = "--help";
  for (const std::string& name : verb.variables) flags += ' ' + flag_of(name);
  return flags;
}

std::string words_of(const Verb& verb) {
  return verb.operand == "SHELL" ? "bash zsh fish man" : std::string();
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
      fmt::join(first_words(), " "));
  for (const auto& [group, words] : words_of_groups()) {
    script += fmt::format(
        "    {0})\n"
        "      if ((COMP_CWORD == 2)); then\n"
        "        mapfile -t COMPREPLY < <(compgen -W '{1} --help' -- \"$word\")\n"
        "        return\n"
        "      fi\n"
        "      verb=\"$verb ${{COMP_WORDS[2]}}\" ;;\n",
        group, fmt::join(words, " "));
  }
  script +=
      "  esac\n"
      "  case $verb in\n";
  for (const Verb& verb : verbs()) {
    script +=
        fmt::format("    '{}') mapfile -t COMPREPLY < <(compgen -W '{} {}' -- \"$word\") ;;\n",
                    verb.name, flags_of(verb), words_of(verb));
  }
  return script +
         "  esac\n"
         "  [[ $word == -* ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "
         "\"$word\")\n"
         "}\n"
         "complete -o filenames -F _fermata fermata\n";
}

/// For a folder of $fpath, and for `source`.
std::string zsh_script() {
  std::string script = fmt::format(
      "#compdef fermata\n"
      "_fermata() {{\n"
      "  if ((CURRENT == 2)); then\n"
      "    compadd -- {} --help\n"
      "    return\n"
      "  fi\n"
      "  local verb=$words[2]\n",
      fmt::join(first_words(), " "));
  for (const auto& [group, words] : words_of_groups()) {
    script += fmt::format(
        "  if [[ $verb == {0} ]]; then\n"
        "    if ((CURRENT == 3)); then\n"
        "      compadd -- {1} --help\n"
        "      return\n"
        "    fi\n"
        "    verb=\"$verb $words[3]\"\n"
        "  fi\n",
        group, fmt::join(words, " "));
  }
  script += "  case $verb in\n";
  for (const Verb& verb : verbs()) {
    script +=
        fmt::format("    '{}') compadd -- {} {} ;;\n", verb.name, flags_of(verb), words_of(verb));
  }
  return script +
         "  esac\n"
         "  [[ $PREFIX == -* ]] || _files\n"
         "}\n"
         "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
         "  _fermata \"$@\"\n"
         "else\n"
         "  compdef _fermata fermata\n"
         "fi\n";
}

std::string fish_script() {
  std::string script;
  for (const auto& [group, words] : words_of_groups()) {
    script += fmt::format("complete -c fermata -n __fish_use_subcommand -f -a {}\n", group);
  }
  for (const Verb& verb : verbs()) {
    const std::string group = group_of(verb);
    const std::string where =
        group.empty() ? "__fish_use_subcommand" : "'__fish_seen_subcommand_from " + group + "'";
    script += fmt::format("complete -c fermata -n {} -f -a {} -d '{}'\n", where, last_word_of(verb),
                          verb.help);
    for (const std::string& name : verb.variables) {
      script +=
          fmt::format("complete -c fermata -n '__fish_seen_subcommand_from {}' -l {}{}\n",
                      last_word_of(verb), flag_of(name).substr(2), is_switch(name) ? "" : " -r");
    }
    if (!words_of(verb).empty()) {
      script += fmt::format("complete -c fermata -n '__fish_seen_subcommand_from {}' -f -a '{}'\n",
                            last_word_of(verb), words_of(verb));
    }
  }
  return script;
}

}  // namespace

int completion_command(const Arguments& arguments) {
  const std::string& shell = arguments.operands.front();
  if (shell == "man") {
    fmt::print("{}", manual_page());
    return kPass;
  }
  if (shell != "bash" && shell != "zsh" && shell != "fish") {
    throw UsageError(fmt::format("no completion for '{}'; expected bash, zsh, fish or man", shell));
  }
  const std::string script =
      shell == "bash" ? bash_script() : (shell == "zsh" ? zsh_script() : fish_script());
  fmt::print("{}", script);
  return kPass;
}

}  // namespace fermata::sim::cli
