// SPDX-License-Identifier: Apache-2.0
// A comparison as one HTML page: all ranks and steps, to be opened from anywhere without a server.
#pragma once

#include <memory>
#include <string>

#include "compare/run.h"

namespace msprobe::report {

std::unique_ptr<compare::WholeWriter> page_writer(const std::string& path);

}  // namespace msprobe::report
