// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/sim_main.hpp"

int main(int argc, char** argv) { return fermata::sim_main(argc, argv); }
