// SPDX-License-Identifier: Apache-2.0
// Records of tensors in host memory: numbers are taken at once, each thread keeps its own list until its commit.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device/device_log.h"

namespace msprobe::device {

class CpuLog final : public DeviceLog {
 public:
  explicit CpuLog(std::shared_ptr<log::Session> session) : session_(std::move(session)) {}
  // Takes no numbers, whatever the tensor; `note` stands in every record. For devices without a library.
  CpuLog(std::shared_ptr<log::Session> session, const std::string& note)
      : session_(std::move(session)), note_(session_->notes.intern(note)) {}

  // The record of x with its numbers, which is not kept yet.
  log::Record measure(const at::Tensor& x, log::Record record);

  void stat(const at::Tensor& x, const log::Record& record, bool recording) override;
  void keep(const log::Record& record, bool recording) override;
  void commit(std::uint64_t forward) override;
  void abandon() override;
  void drain() override;
  [[nodiscard]] bool holds_graphs() const override { return false; }
  void reserve(std::int64_t /*sites*/) override {}

 private:
  std::shared_ptr<log::Session> session_;
  log::NoteId note_ = log::kNoNote;
  std::mutex mutex_;                                             // guards pending_
  std::map<std::thread::id, std::vector<log::Record>> pending_;  // not committed yet, by thread
};

}  // namespace msprobe::device
