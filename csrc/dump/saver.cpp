// SPDX-License-Identifier: Apache-2.0
// The process's saver, and what becomes of it at a fork.
#include "dump/saver.h"

#include <pthread.h>

#include <atomic>
#include <utility>

namespace msprobe::dump {
namespace {

// Never destroyed: a device's callback thread may save while the process is going down.
std::atomic<Saver*> current{nullptr};

class NumberedTarget final : public SaveTarget {
 public:
  explicit NumberedTarget(std::string base) : base_(std::move(base)) {}

  [[nodiscard]] bool wanted() const override { return true; }

  std::optional<SaveTicket> begin() override {
    SaveTicket ticket;
    ticket.job.path = Saver::instance().next_path(base_);
    return ticket;
  }

 private:
  const std::string base_;
};

}  // namespace

Saver& Saver::instance() {
  if (Saver* saver = current.load(std::memory_order_acquire)) {
    return *saver;
  }
  static const int registered = pthread_atfork(nullptr, nullptr, [] { current.store(nullptr, std::memory_order_release); });
  static_cast<void>(registered);
  auto* fresh = new Saver({.max_bytes = save_bytes_from_environment()});
  Saver* expected = nullptr;
  if (!current.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) {
    delete fresh;  // another thread was faster
    return *expected;
  }
  return *fresh;
}

std::unique_ptr<SaveTarget> Saver::numbered(std::string base) { return std::make_unique<NumberedTarget>(std::move(base)); }

std::string Saver::next_path(const std::string& base) {
  const std::lock_guard lock(mutex_);
  return base + "_" + std::to_string(next_[base]++) + ".pt";
}

}  // namespace msprobe::dump
