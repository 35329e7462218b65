// SPDX-License-Identifier: Apache-2.0
// ACL data types and the ATen types they are.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

#include <optional>

#include "acl/acl.h"

namespace hostnpu {

// No value: a type that ATen does not have (hifloat8, float6, 4-bit integers, strings).
std::optional<at::ScalarType> scalar_type(aclDataType type);

// The number at `value`, an object of C++ type `type`. No value: a type that no scalar has.
std::optional<at::Scalar> read_scalar(const void* value, aclDataType type);

}  // namespace hostnpu
