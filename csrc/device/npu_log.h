// SPDX-License-Identifier: Apache-2.0
// Records of NPU tensors: rows on the device, a copy and one callback a forward, the host log.
//
//   stat()    takes a row, queues the reductions that write it
//   commit()  queues, for all rows of this thread since its last commit: copy to the pinned mirror, a callback that reads the mirror
//             and appends to the host log, a reset of the rows to the sentinel (so that what does not run is never reported)
// In a capture the same goes into the graph and happens at every replay. Rows captured without a commit of their own (a piece
// of a broken graph) are read by this thread's next eager commit, or by drain().
#pragma once

#include <c10/core/Stream.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "device/device_log.h"
#include "device/live_ranges.h"
#include "device/npu_rows.h"
#include "device/npu_sites.h"
#include "device/settings.h"

namespace msprobe::device::npu {

class NpuLog final : public DeviceLog, public std::enable_shared_from_this<NpuLog> {
 public:
  NpuLog(std::shared_ptr<log::Session> session, c10::Device device, const Settings& settings);
  ~NpuLog() override;

  void stat(const at::Tensor& x, const log::Record& record, bool recording) override;
  void keep(const log::Record& record, bool recording) override;
  void commit(std::uint64_t forward) override;
  void abandon() override;
  void drain() override;
  [[nodiscard]] bool holds_graphs() const override { return pool_.holds_captured(); }
  void reserve(std::int64_t sites) override;

 private:
  struct PendingSite {
    Site site;
    c10::Stream stream;  // where the row is written
  };
  struct Thread {
    std::vector<PendingSite> pending;
    aclmdlRI capture = nullptr;  // that `live` is of
    LiveRanges live;
    std::vector<Site> uncommitted;  // captured, in no captured commit: read by each eager commit of this thread
  };
  struct Payload;  // of one callback

  void add_pending(Site site);
  void mark_overlaps(const at::Tensor& x, Site& site);
  [[nodiscard]] std::string place_of(log::TagId tag) const;
  void add_note(log::Record& record, const std::string& text) const;

  static void run_callback(void* payload) noexcept;
  void queue_transfer(std::unique_ptr<Payload>& payload, aclrtStream stream);
  void keep_until_end(std::unique_ptr<Payload> payload, aclmdlRI graph);
  void give_back(const Payload* payload, aclmdlRI graph) noexcept;
  static std::vector<c10::Stream> side_streams(std::span<const PendingSite> pending, aclmdlRI graph,
                                               const c10::Stream& current);
  std::vector<Site> take_for_commit(Thread& mine, aclmdlRI graph);
  void drain_transient(std::span<const Site> sites);
  void drain_captured(std::span<const Site> sites);

  std::shared_ptr<log::Session> session_;
  c10::Device device_;
  Settings settings_;
  RowPool pool_;
  std::mutex mutex_;  // guards what follows; never held while waiting for the device, whose callbacks may want the GIL
  std::map<std::thread::id, Thread> threads_;
  std::vector<Site> polled_;                        // captured rows that their own graph does not commit: drain() reads them
  std::vector<std::unique_ptr<Payload>> payloads_;  // of captured callbacks, while their graphs live
};

}  // namespace msprobe::device::npu
