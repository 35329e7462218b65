// SPDX-License-Identifier: Apache-2.0
// Address ranges and the physical memory mapped into them: what torch_npu's expandable segments use. Physical memory is an
// anonymous file, so that it keeps its bytes while it moves from one address to another.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "config.h"
#include "error.h"
#include "memory.h"

namespace hostnpu {
namespace {

constexpr int kPoison = 0xA5;

// aclrtFreePhysical may come before aclrtUnmapMem: the memory goes when neither handle nor mapping needs it.
struct Physical {
  int file = -1;
  std::size_t size = 0;
  int device = 0;

  ~Physical() {
    if (file >= 0) {
      ::close(file);
      return_budget(device, size);
    }
  }
};

struct Mapping {
  std::size_t size = 0;
  std::shared_ptr<Physical> physical;
};

struct VirtualMemory {
  std::mutex mutex;
  std::map<std::uintptr_t, std::size_t> reserved;  // first address -> bytes
  std::map<std::uintptr_t, Mapping> mapped;        // first address -> mapping; inside a reserved range
  std::unordered_map<void*, std::shared_ptr<Physical>> handles;
};

VirtualMemory& space() {
  static VirtualMemory* const value = new VirtualMemory;
  return *value;
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

std::string reason() { return std::strerror(errno); }

bool inside_reservation(std::uintptr_t begin, std::size_t size) {
  auto next = space().reserved.upper_bound(begin);
  if (next == space().reserved.begin()) {
    return false;
  }
  const auto& [first, bytes] = *std::prev(next);
  return begin - first <= bytes && size <= bytes - (begin - first);
}

bool overlaps_mapping(std::uintptr_t begin, std::size_t size) {
  auto next = space().mapped.lower_bound(begin);
  if (next != space().mapped.end() && next->first < begin + size) {
    return true;
  }
  return next != space().mapped.begin() && std::prev(next)->first + std::prev(next)->second.size > begin;
}

bool fill_with_poison(int file, std::size_t size) {
  void* view = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (view == MAP_FAILED) {
    return false;
  }
  std::memset(view, kPoison, size);
  ::munmap(view, size);
  return true;
}

}  // namespace
}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

aclError aclrtReserveMemAddress(void** address, size_t size, size_t, void* wanted, uint64_t) {
  if (address == nullptr || size == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtReserveMemAddress: virPtr must not be null and size not 0");
  }
  void* range = ::mmap(wanted, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                "aclrtReserveMemAddress: no range of " + std::to_string(size) + " bytes: " + reason());
  }
  const std::lock_guard lock(space().mutex);
  space().reserved[number(range)] = size;
  *address = range;
  return ACL_SUCCESS;
}

aclError aclrtReleaseMemAddress(void* address) {
  const std::lock_guard lock(space().mutex);
  const auto found = space().reserved.find(number(address));
  if (found == space().reserved.end()) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtReleaseMemAddress: the address must be one that aclrtReserveMemAddress gave");
  }
  if (overlaps_mapping(found->first, found->second)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtReleaseMemAddress: memory is still mapped into the range; call aclrtUnmapMem first");
  }
  ::munmap(address, found->second);
  space().reserved.erase(found);
  return ACL_SUCCESS;
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* properties, uint64_t) {
  constexpr const char* kCall = "aclrtMallocPhysical";
  if (handle == nullptr || properties == nullptr || size == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, std::string(kCall) + ": neither handle nor prop may be null, nor size 0");
  }
  const int device = static_cast<int>(properties->location.id);
  if (device >= config().devices) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID, std::string(kCall) + ": there is no device " + std::to_string(device));
  }
  if (!take_budget(device, size, kCall)) {
    return ACL_ERROR_RT_MEMORY_ALLOCATION;
  }
  const int file = ::memfd_create("hostnpu", MFD_CLOEXEC);
  if (file < 0) {
    return_budget(device, size);
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, std::string(kCall) + ": " + reason());
  }
  auto physical = std::make_shared<Physical>();
  physical->file = file;
  physical->size = size;
  physical->device = device;
  if (::ftruncate(file, static_cast<off_t>(size)) != 0 || !fill_with_poison(file, size)) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, std::string(kCall) + ": " + std::to_string(size) + " bytes: " + reason());
  }
  *handle = physical.get();
  const std::lock_guard lock(space().mutex);
  space().handles.emplace(*handle, std::move(physical));
  return ACL_SUCCESS;
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  const std::lock_guard lock(space().mutex);
  return space().handles.erase(handle) != 0 ? ACL_SUCCESS
                                            : fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFreePhysical: unknown or freed handle");
}

aclError aclrtMapMem(void* address, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t) {
  const std::lock_guard lock(space().mutex);
  const auto found = space().handles.find(handle);
  if (found == space().handles.end() || offset != 0 || size != found->second->size) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMapMem: the handle must be alive, offset 0 and size the one it was made with");
  }
  if (!inside_reservation(number(address), size) || overlaps_mapping(number(address), size)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMapMem: the range must be reserved and free of other mappings");
  }
  if (::mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, found->second->file, 0) == MAP_FAILED) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMapMem: " + reason());
  }
  space().mapped[number(address)] = {size, found->second};
  add_foreign_block(address, size, found->second->device);
  return ACL_SUCCESS;
}

aclError aclrtUnmapMem(void* address) {
  const std::lock_guard lock(space().mutex);
  const auto found = space().mapped.find(number(address));
  if (found == space().mapped.end()) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtUnmapMem: nothing is mapped at this address");
  }
  remove_foreign_block(address);
  // The range stays reserved: nothing else of the process may land in it.
  void* range = ::mmap(address, found->second.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  space().mapped.erase(found);
  return range != MAP_FAILED ? ACL_SUCCESS : fail(ACL_ERROR_RT_MEMORY_FREE, "aclrtUnmapMem: " + reason());
}

}  // extern "C"
