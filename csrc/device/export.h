// SPDX-License-Identifier: Apache-2.0
// Marks what libmsprobe_ops.so offers to the vendors' libraries.
#pragma once

#define MSPROBE_API __attribute__((visibility("default")))
