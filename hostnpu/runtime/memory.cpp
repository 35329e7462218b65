// SPDX-License-Identifier: Apache-2.0
// Allocation, and the table of blocks that says which memory is device memory, pinned or pageable.
#include "memory.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "config.h"
#include "context.h"
#include "error.h"

namespace hostnpu {
namespace {

constexpr std::size_t kAlignment = 512;  // what aclrtMalloc promises
constexpr int kPoison = 0xA5;

enum class Owner { kAllocated, kRegistered, kForeign };

struct Block {
  std::size_t size = 0;
  MemoryPlace place;
  Owner owner = Owner::kAllocated;
};

struct Memory {
  std::mutex mutex;
  std::map<std::uintptr_t, Block> blocks;  // by first address; they never overlap
  std::vector<std::size_t> used;           // bytes by device
};

Memory& memory() {
  static Memory* const table = [] {
    auto* made = new Memory;
    made->used.resize(static_cast<std::size_t>(config().devices));
    return made;
  }();
  return *table;
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// Call under the mutex. end() when no block holds the address.
std::map<std::uintptr_t, Block>::iterator block_of(const void* address) {
  auto& blocks = memory().blocks;
  auto next = blocks.upper_bound(number(address));
  if (next == blocks.begin()) {
    return blocks.end();
  }
  const auto candidate = std::prev(next);
  return number(address) - candidate->first < candidate->second.size ? candidate : blocks.end();
}

void add_block(void* begin, const Block& block) {
  const std::lock_guard lock(memory().mutex);
  memory().blocks[number(begin)] = block;
}

void* allocate_aligned(std::size_t bytes) {
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return std::aligned_alloc(kAlignment, rounded);
}

aclError allocate_pinned(void** pointer, std::size_t bytes, const char* call) {
  if (pointer == nullptr || bytes == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": the pointer must not be null and the size not 0");
  }
  *pointer = allocate_aligned(bytes);
  if (*pointer == nullptr) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                std::string(call) + ": no " + std::to_string(bytes) + " bytes of host memory left");
  }
  add_block(*pointer, {bytes, {MemoryKind::kPinned, 0}, Owner::kAllocated});
  return ACL_SUCCESS;
}

aclError allocate_for_user(void** pointer, std::size_t bytes, const char* call) {
  if (pointer == nullptr || bytes == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": the pointer must not be null and the size not 0");
  }
  const auto context = current_context(call);
  if (context == nullptr) {
    return ACL_ERROR_RT_CONTEXT_NULL;
  }
  *pointer = allocate_device(bytes, context->device, call);
  return *pointer != nullptr ? ACL_SUCCESS : ACL_ERROR_RT_MEMORY_ALLOCATION;
}

aclError register_host(void* pointer, std::size_t bytes, const char* call) {
  if (pointer == nullptr || bytes == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, std::string(call) + ": the pointer must not be null and the size not 0");
  }
  const std::lock_guard lock(memory().mutex);
  auto& blocks = memory().blocks;
  const auto next = blocks.lower_bound(number(pointer));
  const bool overlaps = block_of(pointer) != blocks.end() || (next != blocks.end() && next->first < number(pointer) + bytes);
  if (overlaps) {
    return fail(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, std::string(call) + ": this memory is known already");
  }
  blocks[number(pointer)] = {bytes, {MemoryKind::kPinned, 0}, Owner::kRegistered};
  return ACL_SUCCESS;
}

}  // namespace

MemoryPlace place_of(const void* address) {
  const std::lock_guard lock(memory().mutex);
  const auto found = block_of(address);
  return found == memory().blocks.end() ? MemoryPlace{} : found->second.place;
}

bool find_block(const void* address, void** begin, std::size_t* size) {
  const std::lock_guard lock(memory().mutex);
  const auto found = block_of(address);
  if (found == memory().blocks.end()) {
    return false;
  }
  *begin = reinterpret_cast<void*>(found->first);
  *size = found->second.size;
  return true;
}

bool take_budget(int device, std::size_t bytes, const char* call) {
  const std::lock_guard lock(memory().mutex);
  std::size_t& used = memory().used[static_cast<std::size_t>(device)];
  const std::size_t limit = config().memory_bytes;
  if (bytes > limit - used) {
    fail(ACL_ERROR_RT_MEMORY_ALLOCATION, std::string(call) + ": " + std::to_string(bytes) + " bytes asked of device " +
                                             std::to_string(device) + ", where " + std::to_string(used) + " of " +
                                             std::to_string(limit) +
                                             " are in use; `msprobe hostnpu run --memory GIB` plays a larger device");
    return false;
  }
  used += bytes;
  return true;
}

void return_budget(int device, std::size_t bytes) {
  const std::lock_guard lock(memory().mutex);
  memory().used[static_cast<std::size_t>(device)] -= bytes;
}

void add_foreign_block(void* begin, std::size_t size, int device) {
  add_block(begin, {size, {MemoryKind::kDevice, device}, Owner::kForeign});
}

void remove_foreign_block(void* begin) {
  const std::lock_guard lock(memory().mutex);
  memory().blocks.erase(number(begin));
}

void* allocate_device(std::size_t bytes, int device, const char* call) {
  if (!take_budget(device, bytes, call)) {
    return nullptr;
  }
  void* pointer = allocate_aligned(bytes);
  if (pointer == nullptr) {
    return_budget(device, bytes);
    fail(ACL_ERROR_RT_MEMORY_ALLOCATION, std::string(call) + ": the host has no " + std::to_string(bytes) + " bytes left");
    return nullptr;
  }
  std::memset(pointer, kPoison, bytes);
  add_block(pointer, {bytes, {MemoryKind::kDevice, device}, Owner::kAllocated});
  return pointer;
}

aclError free_block(void* begin, MemoryKind expected, const char* call) {
  {
    const std::lock_guard lock(memory().mutex);
    const auto found = memory().blocks.find(number(begin));
    if (found == memory().blocks.end() || found->second.place.kind != expected || found->second.owner != Owner::kAllocated) {
      return fail(ACL_ERROR_RT_PARAM_INVALID,
                  std::string(call) + ": the address must be one that the matching allocation gave");
    }
    if (expected == MemoryKind::kDevice) {
      memory().used[static_cast<std::size_t>(found->second.place.device)] -= found->second.size;
    }
    memory().blocks.erase(found);
  }
  std::free(begin);
  return ACL_SUCCESS;
}

}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclrtMalloc(void** pointer, size_t bytes, aclrtMemMallocPolicy) {
  return allocate_for_user(pointer, bytes, "aclrtMalloc");
}

aclError aclrtMallocAlign32(void** pointer, size_t bytes, aclrtMemMallocPolicy) {
  return allocate_for_user(pointer, bytes, "aclrtMallocAlign32");
}

aclError aclrtMallocCached(void** pointer, size_t bytes, aclrtMemMallocPolicy) {
  return allocate_for_user(pointer, bytes, "aclrtMallocCached");
}

aclError aclrtMallocWithCfg(void** pointer, size_t bytes, aclrtMemMallocPolicy, aclrtMallocConfig*) {
  return allocate_for_user(pointer, bytes, "aclrtMallocWithCfg");
}

aclError aclrtFree(void* pointer) { return free_block(pointer, MemoryKind::kDevice, "aclrtFree"); }

aclError aclrtMallocHost(void** pointer, size_t bytes) { return allocate_pinned(pointer, bytes, "aclrtMallocHost"); }

aclError aclrtMallocHostWithCfg(void** pointer, uint64_t bytes, aclrtMallocConfig*) {
  return allocate_pinned(pointer, bytes, "aclrtMallocHostWithCfg");
}

aclError aclrtFreeHost(void* pointer) { return free_block(pointer, MemoryKind::kPinned, "aclrtFreeHost"); }

aclError aclrtHostRegister(void* pointer, uint64_t bytes, aclrtHostRegisterType, void** device_pointer) {
  if (device_pointer == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtHostRegister: devPtr must not be null");
  }
  *device_pointer = pointer;
  return register_host(pointer, bytes, "aclrtHostRegister");
}

aclError aclrtHostRegisterV2(void* pointer, uint64_t bytes, uint32_t) {
  return register_host(pointer, bytes, "aclrtHostRegisterV2");
}

aclError aclrtHostGetDevicePointer(void* host, void** device_pointer, uint32_t) {
  if (device_pointer == nullptr || place_of(host).kind != MemoryKind::kPinned) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtHostGetDevicePointer: the host address must be pinned or registered");
  }
  *device_pointer = host;
  return ACL_SUCCESS;
}

aclError aclrtHostUnregister(void* pointer) {
  const std::lock_guard lock(memory().mutex);
  const auto found = memory().blocks.find(number(pointer));
  if (found == memory().blocks.end() || found->second.owner != Owner::kRegistered) {
    return fail(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                "aclrtHostUnregister: the address must be one given to aclrtHostRegister");
  }
  memory().blocks.erase(found);
  return ACL_SUCCESS;
}

aclError aclrtPointerGetAttributes(const void* pointer, aclrtPtrAttributes* attributes) {
  if (pointer == nullptr || attributes == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtPointerGetAttributes: neither pointer may be null");
  }
  *attributes = {};
  attributes->pageSize = 4096;
  const MemoryPlace place = place_of(pointer);
  switch (place.kind) {
    case MemoryKind::kDevice:
      attributes->location = {static_cast<uint32_t>(place.device), ACL_MEM_LOCATION_TYPE_DEVICE};
      break;
    case MemoryKind::kPinned:
      attributes->location = {0, ACL_MEM_LOCATION_TYPE_HOST};
      break;
    case MemoryKind::kUnknown:
      attributes->location = {0, ACL_MEM_LOCATION_TYPE_UNREGISTERED};
      break;
  }
  return ACL_SUCCESS;
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t* free_bytes, size_t* total_bytes) {
  if (free_bytes == nullptr || total_bytes == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo: neither pointer may be null");
  }
  const auto context = current_context("aclrtGetMemInfo");
  if (context == nullptr) {
    return ACL_ERROR_RT_CONTEXT_NULL;
  }
  const std::lock_guard lock(memory().mutex);
  *total_bytes = config().memory_bytes;
  *free_bytes = *total_bytes - memory().used[static_cast<std::size_t>(context->device)];
  return ACL_SUCCESS;
}

}  // extern "C"
