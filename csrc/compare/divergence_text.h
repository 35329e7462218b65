// SPDX-License-Identifier: Apache-2.0
// Where two runs part, in words and in JSON.
#pragma once

#include <string>
#include <vector>

#include "compare/divergence.h"
#include "compare/divergence_across.h"

namespace msprobe::compare::divergence {

// One sentence: what is seen first, where, with which numbers, and where to look. Never that two runs are equal.
std::string sentence(const Verdict& verdict);

// What limits the sentence, and what else was seen: each a sentence of its own.
std::vector<std::string> riders(const Verdict& verdict);

// The calls before and after the place, one a line, with their distances; nothing if nothing was found.
std::vector<std::string> chain(const Verdict& verdict);

// All of it: the sentence, the riders, the chain.
std::vector<std::string> report(const Verdict& verdict);

std::vector<std::string> report(const AcrossRanks& ranks);
std::vector<std::string> report(const AcrossSteps& steps);

// Append one JSON object. Numbers that are not finite stand as "nan", "pos_inf" and "neg_inf".
void append_json(std::string& out, const Verdict& verdict);
void append_json(std::string& out, const AcrossRanks& ranks);
void append_json(std::string& out, const AcrossSteps& steps);

}  // namespace msprobe::compare::divergence
