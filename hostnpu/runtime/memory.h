// SPDX-License-Identifier: Apache-2.0
// The memory this library knows: device blocks (host memory with a limit for each device) and pinned host blocks.
#pragma once

#include <cstddef>

#include "acl/acl.h"

namespace hostnpu {

enum class MemoryKind { kDevice, kPinned, kUnknown };

struct MemoryPlace {
  MemoryKind kind = MemoryKind::kUnknown;
  int device = 0;
};

// Whose memory an address is in. Anything this library did not give out or register is kUnknown: pageable host memory.
MemoryPlace place_of(const void* address);

// The block that holds the address: begin and size in bytes; false for unknown memory.
bool find_block(const void* address, void** begin, std::size_t* size);

// Takes bytes from a device's budget, or gives them back. False (and the error text) when they are not there.
bool take_budget(int device, std::size_t bytes, const char* call);
void return_budget(int device, std::size_t bytes);

// Makes memory that something else allocated known (mapped device memory), and unknown again.
void add_foreign_block(void* begin, std::size_t size, int device);
void remove_foreign_block(void* begin);

// 512-byte aligned device memory, poisoned so that nothing is zero by luck; null (and the error text) when the limit is reached.
void* allocate_device(std::size_t bytes, int device, const char* call);
aclError free_block(void* begin, MemoryKind expected, const char* call);

}  // namespace hostnpu
