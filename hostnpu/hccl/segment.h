// SPDX-License-Identifier: Apache-2.0
// The shared memory of a communicator: a file in /dev/shm that every rank maps. It has no name any more once all are there.
//
//   Header | Mailbox x ranks x ranks (sender-major) | slot x ranks
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace hostnpu {

constexpr unsigned kMaxRanks = 64;
constexpr std::size_t kSlotBytes = 4 << 20;       // what a rank shows the others at once; pages are taken when used
constexpr std::size_t kMailboxBytes = 256 << 10;  // what one rank has on its way to another

// What a rank is doing: all ranks must do the same.
struct RankState {
  std::atomic<std::int32_t> pid;
  std::atomic<std::uint64_t> operation;  // hash of the call's name, count, type and root
};

struct Header {
  std::atomic<std::uint32_t> attached;
  std::atomic<std::uint32_t> arrived;     // at the barrier
  std::atomic<std::uint32_t> generation;  // of the barrier
  std::atomic<std::uint32_t> failed;      // 1: a rank gave up, nobody shall wait for it
  RankState ranks[kMaxRanks];
};

struct Mailbox {
  std::atomic<std::uint64_t> written;  // messages; the box is empty when both are equal
  std::atomic<std::uint64_t> taken;
  std::uint64_t bytes;  // of the message in the box
  char data[kMailboxBytes];
};

class Segment {
 public:
  // Maps the file of this name, making it if this rank is the first. Throws TaskError with the reason.
  static std::shared_ptr<Segment> attach(const std::string& name, unsigned ranks, unsigned rank);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  Header& header() const { return *static_cast<Header*>(base_); }
  Mailbox& mailbox(unsigned sender, unsigned receiver) const;
  char* slot(unsigned rank) const;
  const std::string& name() const { return name_; }

 private:
  Segment(std::string name, void* base, std::size_t size, unsigned ranks)
      : name_(std::move(name)), base_(base), size_(size), ranks_(ranks) {}

  std::string name_;
  void* base_;
  std::size_t size_;
  unsigned ranks_;
};

// A name that no other communicator of this machine has.
std::string new_segment_name();

}  // namespace hostnpu
