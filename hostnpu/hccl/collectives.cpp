// SPDX-License-Identifier: Apache-2.0
// Collectives in chunks of a slot: show, meet, take, meet.
#include "collectives.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace hostnpu {
namespace {

// Calls step(first byte, bytes) for chunks that fit a slot.
void in_chunks(std::size_t bytes, std::size_t element, const std::function<void(std::size_t, std::size_t)>& step) {
  const std::size_t chunk = kSlotBytes / element * element;
  for (std::size_t begin = 0; begin < bytes; begin += chunk) {
    step(begin, std::min(chunk, bytes - begin));
  }
}

std::vector<const char*> all_slots(const Communicator& group) {
  std::vector<const char*> slots;
  for (unsigned rank = 0; rank < group.ranks; ++rank) {
    slots.push_back(group.slot(rank));
  }
  return slots;
}

void reduce_part(Communicator& group, const char* send, char* receive, std::size_t count, HcclDataType type,
                 HcclReduceOp operation, bool wanted) {
  const std::size_t element = element_size(type);
  in_chunks(count * element, element, [&](std::size_t begin, std::size_t bytes) {
    std::memcpy(group.slot(group.rank), send + begin, bytes);
    group.barrier();
    if (wanted) {
      reduce(all_slots(group), receive + begin, bytes / element, type, operation);
    }
    group.barrier();
  });
}

}  // namespace

void all_reduce(Communicator& group, const char* send, char* receive, std::size_t count, HcclDataType type,
                HcclReduceOp operation) {
  reduce_part(group, send, receive, count, type, operation, true);
}

void reduce_to(Communicator& group, const char* send, char* receive, std::size_t count, HcclDataType type,
               HcclReduceOp operation, unsigned root) {
  reduce_part(group, send, receive, count, type, operation, group.rank == root);
}

void reduce_scatter(Communicator& group, const char* send, char* receive, std::size_t count, HcclDataType type,
                    HcclReduceOp operation) {
  const std::size_t part = count * element_size(type);
  for (unsigned rank = 0; rank < group.ranks; ++rank) {
    reduce_part(group, send + part * rank, receive, count, type, operation, rank == group.rank);
  }
}

void all_gather(Communicator& group, const char* send, char* receive, std::size_t bytes) {
  in_chunks(bytes, 1, [&](std::size_t begin, std::size_t part) {
    std::memcpy(group.slot(group.rank), send + begin, part);
    group.barrier();
    for (unsigned rank = 0; rank < group.ranks; ++rank) {
      std::memcpy(receive + bytes * rank + begin, group.slot(rank), part);
    }
    group.barrier();
  });
}

void broadcast(Communicator& group, char* data, std::size_t bytes, unsigned root) {
  in_chunks(bytes, 1, [&](std::size_t begin, std::size_t part) {
    if (group.rank == root) {
      std::memcpy(group.slot(root), data + begin, part);
    }
    group.barrier();
    if (group.rank != root) {
      std::memcpy(data + begin, group.slot(root), part);
    }
    group.barrier();
  });
}

}  // namespace hostnpu
