// SPDX-License-Identifier: Apache-2.0
// What stands out in one dump by itself: numbers that are not finite, outputs that carry nothing any more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "read/dump_model.h"

namespace msprobe::report {

enum class SignKind : std::uint8_t {
  kNotFinite,   // NaN or an infinity; the -inf of additive masks is none
  kDead,        // an output that is all zero
  kMostlyZero,  // 99 % of it or more are zero
  kConstant,    // the same value everywhere
  kSaturated,   // nearly every element has the largest magnitude, as behind a sigmoid or a clamp
  kLimit,       // reaches the largest number of its type
};
inline constexpr std::size_t kSignKinds = 6;
std::string_view sign_name(SignKind kind) noexcept;      // the page's script knows them
std::string_view sign_sentence(SignKind kind) noexcept;  // of a row's message

// Of each leaf of `model`; nothing for most. Signs of outputs are looked for in calls of modules, or, where there are none, in all calls
// but those that make constants.
std::vector<std::optional<SignKind>> find_signs(const read::DumpModel& model);

// The first sign of each kind, by the moment at which its tensor was seen.
struct FirstSigns {
  std::array<std::vector<std::size_t>, kSignKinds> leaves;  // a few of each kind, the earliest first
  std::array<std::uint64_t, kSignKinds> counts{};
  bool inputs_had_it = false;  // the first that is not finite is an input, or stands in a call with such an input
};
FirstSigns first_signs(const read::DumpModel& model, const std::vector<std::optional<SignKind>>& signs);

}  // namespace msprobe::report
