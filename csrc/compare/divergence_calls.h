// SPDX-License-Identifier: Apache-2.0
// The calls of one side as they ran: what encloses what, and in which order inputs and outputs were seen.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compare/divergence.h"

namespace msprobe::compare::divergence {

// What the key of a call says.
struct CallName {
  bool module = false;         // Module.… (or Cell.…), against an operator
  bool backward = false;       // a backward call, or gradients of parameters
  std::string_view qualified;  // of a module: layers.0.attn, __root__; of an operator: Aten.mm
};

inline constexpr std::string_view kRootName = "__root__";  // the model itself

CallName parse_call_name(std::string_view name);

// The name of what encloses it by the dots of its own; "" if there are none.
std::string_view enclosing_name(std::string_view qualified);

// Whether a module of this name is inside one of the other by their names.
bool encloses(std::string_view outer, std::string_view inner);

// Views, copies and casts: they compute nothing, and other versions call other ones.
bool only_moves(std::string_view qualified);

// What an operator is told apart by in a list of differences: products of matrices have one name, whatever their dimensions.
std::string_view family_of(std::string_view qualified);

bool is_product(std::string_view qualified);  // of matrices

bool is_collective(std::string_view qualified);

inline constexpr std::uint32_t kNoCall = kUnmatched;

struct Node {
  CallName name;
  std::uint32_t parent = kNoCall;
  bool has_modules = false;  // modules were recorded inside
  std::uint32_t start = 0;   // place of its inputs among all inputs and outputs of the side
  std::uint32_t end = 0;     // place of its outputs
};

// How it is known what encloses what.
enum class Nesting : std::uint8_t {
  kStamps,
  kStartsFirst,  // by names; a call stands where it starts
  kEndsFirst,    // by names; a call stands where it ends
};

// What stands in Tree::events: the inputs of a call, or its outputs.
struct Event {
  std::uint32_t call;
  bool output;
};

struct Tree {
  std::vector<Node> nodes;    // by index of the call
  std::vector<Event> events;  // in order of execution; node.start and node.end are indices into it
  Nesting nesting = Nesting::kStamps;
};

Tree build_tree(std::span<const Call> calls);

}  // namespace msprobe::compare::divergence
