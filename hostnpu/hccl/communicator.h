// SPDX-License-Identifier: Apache-2.0
// One rank of a group: how it meets the others. The collectives run on streams' threads and hold the communicator.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "segment.h"

namespace hostnpu {

// Bytes on their way between this rank and another one.
struct Transfer {
  bool send = false;
  unsigned peer = 0;
  char* data = nullptr;
  std::size_t bytes = 0;
};

class Communicator {
 public:
  // Waits until all ranks are there. Throws TaskError.
  Communicator(std::shared_ptr<Segment> segment, unsigned ranks, unsigned rank, std::string name);

  const unsigned ranks;
  const unsigned rank;
  const std::string name;

  const Segment& segment() const { return *segment_; }
  char* slot(unsigned of_rank) const { return segment_->slot(of_rank); }
  bool failed() const { return segment_->header().failed != 0; }

  // Meets the others; throws TaskError when one of them is gone, or comes too late, or this rank's stream is destroyed.
  void barrier();

  // Like barrier, and all ranks must bring the same operation.
  void meet_for(const std::string& operation);

  // All of them at once, in any order: a rank may send to one that sends to it.
  void transfer(std::vector<Transfer> transfers);

 private:
  void wait_until(const std::function<bool()>& ready, const char* what);
  [[noreturn]] void give_up(const std::string& why);
  void check_peers();

  std::shared_ptr<Segment> segment_;
};

}  // namespace hostnpu
