// SPDX-License-Identifier: Apache-2.0
// Asks the system what a terminal can do, and draws on it.
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "report/unicode.h"

namespace msprobe::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kQuiet = 1s;       // nothing is drawn before
constexpr auto kBetween = 100ms;  // what changes faster nobody reads
constexpr std::size_t kBar = 30;
constexpr const char* kEraseLine = "\r\x1b[2K";

std::size_t columns_of(int fd) {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

}  // namespace

bool wants_colours(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(fd) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal != nullptr && std::string_view(terminal) != "dumb");
}

ProgressBar::ProgressBar()
    : start_(std::chrono::steady_clock::now()), next_(start_ + kQuiet), on_terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) {
    std::fputs(kEraseLine, stderr);
  }
}

void ProgressBar::update(double share, std::string_view what) {
  const auto time = std::chrono::steady_clock::now();
  if (!on_terminal_ || time < next_) {
    return;
  }
  next_ = time + kBetween;
  drawn_ = true;
  // One column is left free: a full line makes some terminals begin another one.
  const std::string text = kEraseLine + bar_text(share, what, columns_of(STDERR_FILENO) - 1);
  std::fputs(text.c_str(), stderr);
}

std::string bar_text(double share, std::string_view what, std::size_t width) {
  const double part = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  const auto full = static_cast<std::size_t>(part * kBar);
  std::string text = "[" + std::string(full, '#') + std::string(kBar - full, ' ') + "] ";
  text += report::fit_right(std::to_string(static_cast<int>(part * 100)), 3) + " % ";
  text += what;
  return report::fit(text, std::max<std::size_t>(width, 1));
}

}  // namespace msprobe::cli
