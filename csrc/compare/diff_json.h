// SPDX-License-Identifier: Apache-2.0
// What -da writes: every op with its rows and whether its outputs are the same, and the place where a rank parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "compare/block.h"
#include "compare/divergence.h"

namespace msprobe::compare {

// Whether a row keeps its op from being the same: an output with a relative error above one half, another kind of number, another
// checksum, or without a partner.
bool differs(const Comparison& comparison, const JudgedRow& row);

// One JSON object by op, written block by block.
class DiffJson {
 public:
  explicit DiffJson(const std::string& path);
  [[nodiscard]] static std::string encode(const Comparison& comparison, const ComparedBlock& block);  // any thread
  void append(const std::string& encoded);                                                            // in order
  std::string finish();  // returns the path that the file got

 private:
  AtomicFile file_;
  bool empty_ = true;
};

// A JSON object: the op where it starts, its numbers, its stack, and the verdict. Without an op (nothing was found) op_name is null and
// there are no numbers. Without a verdict (checksums) a sentence stands in its place.
std::string analysis_json(const Comparison& comparison, std::optional<std::uint32_t> target_op,
                          const divergence::Verdict* verdict);

// The same of dumps that were not compared.
std::string analysis_json(std::string_view why_not);

}  // namespace msprobe::compare
