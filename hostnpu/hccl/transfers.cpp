// SPDX-License-Identifier: Apache-2.0
// Point-to-point traffic through the mailboxes.
#include <algorithm>
#include <cstring>

#include "communicator.h"
#include "runtime/error.h"

namespace hostnpu {
namespace {

struct Progress {
  Transfer transfer;
  std::size_t done = 0;

  // A transfer of no bytes has nothing to do.
  bool finished() const { return done == transfer.bytes; }
};

// One step if the mailbox allows it.
bool advance(const Segment& segment, unsigned rank, Progress& progress) {
  const Transfer& transfer = progress.transfer;
  Mailbox& box = transfer.send ? segment.mailbox(rank, transfer.peer) : segment.mailbox(transfer.peer, rank);
  const bool empty = box.written == box.taken;
  const std::size_t part = std::min(kMailboxBytes, transfer.bytes - progress.done);
  if (transfer.send != empty) {
    return false;
  }
  if (transfer.send) {
    std::memcpy(box.data, transfer.data + progress.done, part);
    box.bytes = part;
    ++box.written;
  } else {
    if (box.bytes != part) {
      throw TaskError(ACL_ERROR_RT_PARAM_INVALID, "rank " + std::to_string(transfer.peer) + " sent " +
                                                      std::to_string(box.bytes) + " bytes where " + std::to_string(part) +
                                                      " are expected: the counts differ");
    }
    std::memcpy(transfer.data + progress.done, box.data, part);
    ++box.taken;
  }
  progress.done += part;
  return true;
}

}  // namespace

void Communicator::transfer(std::vector<Transfer> transfers) {
  std::vector<Progress> open;
  for (const Transfer& transfer : transfers) {
    if (transfer.bytes != 0) {
      open.push_back({transfer});
    }
  }
  while (!open.empty()) {
    wait_until(
        [&] {
          bool moved = false;
          for (std::size_t index = 0; index < open.size(); ++index) {
            // Several transfers with one peer keep their order: only the first open one of a direction may move.
            const auto same_way = [&](const Progress& other) {
              return other.transfer.peer == open[index].transfer.peer && other.transfer.send == open[index].transfer.send;
            };
            const bool first =
                std::find_if(open.begin(), open.end(), same_way) == open.begin() + static_cast<std::ptrdiff_t>(index);
            if (first && !open[index].finished()) {
              moved = advance(*segment_, rank, open[index]) || moved;
            }
          }
          return moved;
        },
        "the rank at the other end of a transfer");
    std::erase_if(open, [](const Progress& progress) { return progress.finished(); });
  }
}

}  // namespace hostnpu
