// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/manual_page.hpp"

#include <fmt/format.h>

#include <string_view>

#include "fermata/sim/cli/arguments.hpp"
#include "fermata/sim/run/environment.hpp"

namespace fermata::sim::cli {
namespace {

/// A paragraph of troff with this text: what stands between `...` is bold, and nothing of it is a
/// request.
std::string paragraph(std::string_view text) {
  std::string lines;
  bool bold = false;
  for (const char letter : text) {
    if (lines.empty() || lines.back() == '\n') {
      if (letter == '.' || letter == '\'') lines += "\\&";
    }
    if (letter == '`') {
      bold = !bold;
      lines += bold ? "\\fB" : "\\fR";
    } else if (letter == '\\') {
      lines += "\\e";
    } else if (letter == '-') {
      lines += "\\-";  // A plain one may be shown as a typographic hyphen.
    } else {
      lines += letter;
    }
  }
  return lines + '\n';
}

std::string bold(std::string_view text) { return fmt::format("`{}`", text); }

std::string synopsis_of(const Verb& verb) {
  std::string line = bold("fermata " + verb.name);
  if (!verb.variables.empty()) line += " [OPTION]...";
  if (!verb.operand.empty()) line += ' ' + verb.operand + (verb.many ? "..." : "");
  if (verb.name == "debug") line += " [-- ARGUMENT...]";
  return line;
}

std::string names_of_option(const Verb& verb, std::string_view variable) {
  std::string names;
  std::string rest = flag_names(verb, variable);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    names += (names.empty() ? "" : ", ") + bold(rest.substr(0, comma));
    rest = comma == std::string::npos ? std::string() : rest.substr(comma + 1);
  }
  return is_switch(variable) ? names : names + " VALUE";
}

std::string section_of(const Verb& verb) {
  std::string help = verb.help + '.';
  const char first = help.front();  // `--help` shows the text within a list, in lower case.
  if (first >= 'a' && first <= 'z') help.front() = static_cast<char>(first - 'a' + 'A');
  std::string section = ".SS " + paragraph(synopsis_of(verb)) + paragraph(help);
  for (const std::string& name : verb.variables) {
    const Variable& variable = *find_variable(name);
    section +=
        ".TP\n" + paragraph(names_of_option(verb, name)) + paragraph(std::string(variable.meaning));
    if (!variable.default_text.empty()) {
      section += paragraph(fmt::format("Default: {}.", bold(variable.default_text)));
    }
  }
  return section;
}

}  // namespace

std::string manual_page() {
  std::string page =
      ".TH FERMATA 1 \"\" Fermata \"User Commands\"\n"
      ".SH NAME\nfermata \\- explore, replay and explain simulated tests\n"
      ".SH SYNOPSIS\n";
  for (const Verb& verb : verbs()) {
    page += (&verb == &verbs().front() ? "" : ".br\n") + paragraph(synopsis_of(verb));
  }
  page += ".SH DESCRIPTION\n" + paragraph(kToolPurpose) +
          paragraph(
              "Each option has a variable of the same name in the environment, such as "
              "`FERMATA_TIME_LIMIT` for `--time-limit`; the option takes precedence. `fermata "
              "env` lists all variables, and `fermata VERB --help` the options of a verb.") +
          ".SH COMMANDS\n";
  for (const Verb& verb : verbs()) page += section_of(verb);
  page += ".SH EXIT STATUS\n" + paragraph(exit_codes());
  page += ".SH SEE ALSO\n.BR gdb (1)\n";
  return page;
}

}  // namespace fermata::sim::cli
