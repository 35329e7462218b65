// SPDX-License-Identifier: Apache-2.0
// Nesting and order, from stamps or from names.
#include "compare/divergence_calls.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <ranges>
#include <string>

namespace msprobe::compare::divergence {
namespace {

// Operators by the part of their name behind the library's: Aten.view, Tensor.view, Torch.transpose.
constexpr std::array<std::string_view, 58> kMoving{"_reshape_alias",
                                                   "_reshape_copy",
                                                   "_to_copy",
                                                   "_unsafe_view",
                                                   "alias",
                                                   "alias_copy",
                                                   "as_strided",
                                                   "bfloat16",
                                                   "chunk",
                                                   "clone",
                                                   "contiguous",
                                                   "copy",
                                                   "copy_",
                                                   "detach",
                                                   "diagonal",
                                                   "double",
                                                   "expand",
                                                   "expand_as",
                                                   "flatten",
                                                   "float",
                                                   "half",
                                                   "hsplit",
                                                   "int",
                                                   "lift",
                                                   "lift_fresh",
                                                   "long",
                                                   "movedim",
                                                   "narrow",
                                                   "npu_dtype_cast",
                                                   "numpy_T",
                                                   "permute",
                                                   "pin_memory",
                                                   "ravel",
                                                   "reshape",
                                                   "reshape_as",
                                                   "select",
                                                   "slice",
                                                   "split",
                                                   "split_with_sizes",
                                                   "squeeze",
                                                   "squeeze_",
                                                   "swapaxes",
                                                   "swapdims",
                                                   "t",
                                                   "t_",
                                                   "tensor_split",
                                                   "to",
                                                   "transpose",
                                                   "transpose_",
                                                   "type",
                                                   "type_as",
                                                   "unbind",
                                                   "unflatten",
                                                   "unfold",
                                                   "unsafe_chunk",
                                                   "unsafe_split",
                                                   "unsqueeze",
                                                   "view"};
static_assert(std::ranges::is_sorted(kMoving));
constexpr std::array<std::string_view, 6> kMovingToo{"__getitem__",     "_npu_dtype_cast", "npu_dtype_cast",
                                                     "npu_format_cast", "unsqueeze_",      "view_as"};

// A device that has one operator for products of any number of dimensions records that one; others record what it is made of.
constexpr std::array<std::string_view, 3> kProducts{"Aten.bmm", "Aten.matmul", "Aten.mm"};

constexpr std::array<std::string_view, 9> kCollectives{"all_reduce", "allreduce",         "all_gather",
                                                       "allgather",  "reduce_scatter",    "all_to_all",
                                                       "alltoall",   "batch_isend_irecv", "all2all"};
// Words of collectives that operators on one device have too: they count only in libraries of collectives.
constexpr std::array<std::string_view, 7> kCollectivesOnly{"broadcast", "scatter", "gather", "send",
                                                           "recv",      "reduce",  "barrier"};

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

bool drop_suffix(std::string_view& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) {
    return false;
  }
  name.remove_suffix(suffix.size());
  return true;
}

// Drops the last part, whatever it is.
void drop_part(std::string_view& name) { name = name.substr(0, name.rfind('.') == name.npos ? 0 : name.rfind('.')); }

bool is_number(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

template <class Words>
bool has_word(std::string_view text, const Words& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

// Nesting by stamps: a call is inside the nearest one whose span holds its own.
void nest_by_stamps(std::span<const Call> calls, Tree& tree) {
  std::vector<std::uint32_t> by_first(calls.size());
  std::iota(by_first.begin(), by_first.end(), 0U);
  std::ranges::sort(by_first, [&](std::uint32_t a, std::uint32_t b) {
    return calls[a].first != calls[b].first ? calls[a].first < calls[b].first
           : calls[a].last != calls[b].last ? calls[a].last > calls[b].last
                                            : a < b;
  });
  std::vector<std::uint32_t> open;
  for (const std::uint32_t call : by_first) {
    std::erase_if(open, [&](std::uint32_t other) { return calls[other].last < calls[call].first; });
    for (const std::uint32_t outer : std::views::reverse(open)) {
      if (calls[outer].last >= calls[call].last && tree.nodes[outer].name.module) {
        tree.nodes[call].parent = outer;
        break;
      }
    }
    open.push_back(call);
  }
}

struct Stamp {
  std::int64_t at;
  std::uint32_t call;
  bool output;
};

void order_by_stamps(std::span<const Call> calls, Tree& tree) {
  std::vector<Stamp> stamps;
  stamps.reserve(2 * calls.size());
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    stamps.push_back({calls[call].first, call, false});
    stamps.push_back({calls[call].last, call, true});
  }
  std::ranges::sort(stamps, [](const Stamp& a, const Stamp& b) {
    return a.at != b.at ? a.at < b.at : a.output != b.output ? b.output : a.call < b.call;
  });
  for (const Stamp& stamp : stamps) {
    tree.events.push_back({stamp.call, stamp.output});
  }
}

// A module that no tensor came into begins, by its stamps, where it ends. What ran inside it stands right before it.
void adopt_by_names(Tree& tree) {
  for (std::size_t at = 0; at < tree.events.size(); ++at) {
    const Event event = tree.events[at];
    const bool starts_at_end = !event.output && at + 1 < tree.events.size() && tree.events[at + 1].call == event.call &&
                               tree.nodes[event.call].name.module;
    if (!starts_at_end) {
      continue;
    }
    const Node& node = tree.nodes[event.call];
    for (std::size_t before = at; before-- > 0;) {
      const std::uint32_t inner = tree.events[before].call;
      const CallName& name = tree.nodes[inner].name;
      if (!name.module || !encloses(node.name.qualified, name.qualified)) {
        break;
      }
      if (tree.nodes[inner].parent == node.parent) {
        tree.nodes[inner].parent = event.call;
      }
    }
  }
}

// Whether a module stands before the modules inside it. Some writers write a call when it ends.
bool starts_first(const Tree& tree) {
  std::int64_t votes = 0;
  const Node* last = nullptr;
  for (const Node& node : tree.nodes) {
    if (!node.name.module || node.name.backward) {
      continue;
    }
    if (last != nullptr) {
      votes += encloses(last->name.qualified, node.name.qualified) ? 1 : 0;
      votes -= encloses(node.name.qualified, last->name.qualified) ? 1 : 0;
    }
    last = &node;
  }
  return votes >= 0;
}

void nest_by_names_starts_first(Tree& tree) {
  std::vector<std::uint32_t> open;
  const auto close = [&] {
    tree.events.push_back({open.back(), true});
    open.pop_back();
  };
  for (std::uint32_t call = 0; call < tree.nodes.size(); ++call) {
    Node& node = tree.nodes[call];
    if (node.name.module || node.name.backward) {
      while (!open.empty() && (node.name.backward || !encloses(tree.nodes[open.back()].name.qualified, node.name.qualified))) {
        close();
      }
    }
    node.parent = open.empty() ? kNoCall : open.back();
    tree.events.push_back({call, false});
    if (node.name.module && !node.name.backward) {
      open.push_back(call);
    } else {
      tree.events.push_back({call, true});
    }
  }
  while (!open.empty()) {
    close();
  }
}

void nest_by_names_ends_first(Tree& tree) {
  std::vector<std::uint32_t> free;                          // calls that nothing encloses yet
  std::vector<std::uint32_t> starts(tree.nodes.size(), 0);  // the call before which a call begins
  for (std::uint32_t call = 0; call < tree.nodes.size(); ++call) {
    const CallName& name = tree.nodes[call].name;
    starts[call] = call;
    if (name.module && !name.backward) {
      while (!free.empty()) {
        const CallName& inner = tree.nodes[free.back()].name;
        if (inner.backward || (inner.module && !encloses(name.qualified, inner.qualified))) {
          break;
        }
        tree.nodes[free.back()].parent = call;
        starts[call] = starts[free.back()];
        free.pop_back();
      }
    }
    free.push_back(call);
  }
  std::vector<std::vector<std::uint32_t>> begin_at(tree.nodes.size());
  for (std::uint32_t call = tree.nodes.size(); call-- > 0;) {
    begin_at[starts[call]].push_back(call);  // the outermost first: it ends last
  }
  for (std::uint32_t call = 0; call < tree.nodes.size(); ++call) {
    for (const std::uint32_t begun : begin_at[call]) {
      tree.events.push_back({begun, false});
    }
    tree.events.push_back({call, true});
  }
}

}  // namespace

CallName parse_call_name(std::string_view name) {
  CallName parsed;
  parsed.module = name.starts_with("Module.") || name.starts_with("Cell.");
  std::string_view rest = name;
  if (drop_suffix(rest, ".parameters_grad")) {
    parsed.backward = true;
  } else {
    if (is_number(last_part(rest))) {  // Module.….forward.0
      drop_part(rest);
    }
    parsed.backward = drop_suffix(rest, ".backward");
    if (!parsed.backward) {
      drop_suffix(rest, ".forward");
    }
    if (!parsed.module && is_number(last_part(rest))) {  // Aten.mm.0.forward
      drop_part(rest);
    }
  }
  if (parsed.module) {
    rest.remove_prefix(rest.find('.') + 1);
    drop_part(rest);  // the class
  }
  parsed.qualified = rest;
  return parsed;
}

std::string_view enclosing_name(std::string_view qualified) {
  drop_part(qualified);
  return qualified;
}

bool encloses(std::string_view outer, std::string_view inner) {
  if (outer == kRootName || outer.empty()) {
    return inner != outer;
  }
  return inner.size() > outer.size() && inner.starts_with(outer) && inner[outer.size()] == '.';
}

bool only_moves(std::string_view qualified) {
  const std::string_view name = last_part(qualified);
  return std::ranges::binary_search(kMoving, name) || std::ranges::find(kMovingToo, name) != kMovingToo.end();
}

std::string_view family_of(std::string_view qualified) { return is_product(qualified) ? kProducts[1] : qualified; }

bool is_product(std::string_view qualified) { return std::ranges::find(kProducts, qualified) != kProducts.end(); }

bool is_collective(std::string_view qualified) {
  std::string lower(qualified);
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const bool library =
      lower.starts_with("distributed.") || lower.find("c10d") != lower.npos || lower.find("hccl") != lower.npos;
  return has_word(lower, kCollectives) || (library && has_word(lower, kCollectivesOnly));
}

Tree build_tree(std::span<const Call> calls) {
  Tree tree;
  tree.nodes.resize(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    tree.nodes[i].name = parse_call_name(calls[i].name);
  }
  tree.events.reserve(2 * calls.size());
  if (std::ranges::all_of(calls, [](const Call& c) { return c.first >= 0 && c.last >= c.first; })) {
    nest_by_stamps(calls, tree);
    order_by_stamps(calls, tree);
    adopt_by_names(tree);
  } else if (starts_first(tree)) {
    tree.nesting = Nesting::kStartsFirst;
    nest_by_names_starts_first(tree);
  } else {
    tree.nesting = Nesting::kEndsFirst;
    nest_by_names_ends_first(tree);
  }
  for (std::uint32_t at = 0; at < tree.events.size(); ++at) {
    Node& node = tree.nodes[tree.events[at].call];
    (tree.events[at].output ? node.end : node.start) = at;
  }
  for (const Node& node : tree.nodes) {
    if (node.parent != kNoCall && node.name.module && !node.name.backward) {
      tree.nodes[node.parent].has_modules = true;
    }
  }
  return tree;
}

}  // namespace msprobe::compare::divergence
