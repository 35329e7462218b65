// SPDX-License-Identifier: Apache-2.0
// The process's saver, and what becomes of it at a fork.
#include "dump/saver.h"

#include <pthread.h>

#include <atomic>

namespace msprobe::dump {
namespace {

// Never destroyed: a device's callback thread may save while the process is going down.
std::atomic<Saver*> current{nullptr};

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

std::string Saver::next_path(const std::string& base) {
  const std::lock_guard lock(mutex_);
  return base + "_" + std::to_string(next_[base]++) + ".pt";
}

}  // namespace msprobe::dump
