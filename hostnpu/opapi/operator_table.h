// SPDX-License-Identifier: Apache-2.0
// The table of operators: each one's name, C parameter types and number of runs; and phase 2, which is the same for all.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "acl/acl.h"
#include "runtime/submit.h"

#define HOSTNPU_API __attribute__((visibility("default")))

namespace hostnpu {

using aclnnStatus = int32_t;
inline constexpr aclnnStatus kAclnnNullParameter = 161001;     // ACLNN_ERR_PARAM_NULLPTR
inline constexpr aclnnStatus kAclnnInvalidParameter = 161002;  // ACLNN_ERR_PARAM_INVALID

// One a program's operator, in static memory. Constructing it adds it to the table.
struct OperatorInfo {
  OperatorInfo(const char* operator_name, const char* parameter_text, std::span<const char* const> parameter_types);

  const char* const name;                      // "aclnnAdd"
  const char* const parameters;                // "(In self, In other, Number alpha, Out out)", for error texts
  const std::span<const char* const> c_types;  // {"aclTensor*", "aclTensor*", "aclScalar*", "aclTensor*"}
  std::atomic<uint64_t> calls{0};              // finished runs, replays included
  OperatorInfo* const next;                    // the one constructed before
};

}  // namespace hostnpu

// What phase 1 hands to phase 2.
struct aclOpExecutor {
  const hostnpu::OperatorInfo* info;
  hostnpu::Task task;
};

namespace hostnpu {

// Phase 2 of every operator: takes the executor over and puts its task onto the stream.
aclnnStatus launch(aclOpExecutor* executor, aclrtStream stream);

}  // namespace hostnpu
