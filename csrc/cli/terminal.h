// SPDX-License-Identifier: Apache-2.0
// What the program may do with its output: colours, a bar of progress.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "compare/run.h"

namespace msprobe::cli {

// Colours only on a terminal that can show them, and not where NO_COLOR is set (no-color.org).
bool wants_colours(int fd);

// A bar on standard error, if that is a terminal, once a comparison takes more than a second. Gone when the object is.
class ProgressBar : public compare::Progress {
 public:
  ProgressBar();
  ~ProgressBar() override;
  void update(double share, std::string_view what) override;

 private:
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_;
  bool on_terminal_;
  bool drawn_ = false;
};

// The bar as text of `width` columns: "[#######       ]  47 % rank 3: reading".
std::string bar_text(double share, std::string_view what, std::size_t width);

}  // namespace msprobe::cli
