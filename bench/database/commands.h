// SPDX-License-Identifier: Apache-2.0
#pragma once

// What both contestants ask of their databases.

static const char* const kQuery = "SELECT 1";
static const char* const kRows =
    "SELECT n, 'row ' || n FROM generate_series(1, $1::bigint) AS series(n)";
static const char* const kSum =
    "WITH RECURSIVE term(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM term WHERE n < $1) "
    "SELECT sum(n) FROM term";

static const long kTerms = 1500;
