// SPDX-License-Identifier: Apache-2.0

// A program without simulated tests.
int main() { return 3; }
