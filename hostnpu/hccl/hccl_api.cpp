// SPDX-License-Identifier: Apache-2.0
// The C calls of HCCL: groups, and collectives as tasks on a stream.
#pragma GCC visibility push(default)
#include "third_party/hccl/inc/hccl/hccl.h"
#pragma GCC visibility pop

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "collectives.h"
#include "communicator.h"
#include "reduction.h"
#include "runtime/error.h"
#include "runtime/handle_table.h"
#include "runtime/submit.h"

namespace hostnpu {
namespace {

struct Groups {
  std::mutex mutex;
  HandleTable<Communicator> table;
};

Groups& groups() {
  static Groups* const value = new Groups;
  return *value;
}

HcclResult refuse(HcclResult code, const std::string& text) {
  fail(code, text);
  return code;
}

std::shared_ptr<Communicator> find_group(HcclComm handle) {
  const std::lock_guard lock(groups().mutex);
  return groups().table.find(handle);
}

HcclResult join_group(const std::string& segment_name, uint32_t ranks, uint32_t rank, const HcclCommConfig* config,
                      const char* call, HcclComm* handle) {
  if (handle == nullptr) {
    return refuse(HCCL_E_PTR, std::string(call) + ": comm must not be null");
  }
  if (ranks == 0 || ranks > kMaxRanks || rank >= ranks) {
    return refuse(HCCL_E_PARA, std::string(call) + ": a group has 1 to " + std::to_string(kMaxRanks) +
                                   " ranks here, got rank " + std::to_string(rank) + " of " + std::to_string(ranks));
  }
  try {
    const bool named = config != nullptr && config->hcclCommName[0] != '\0';
    const std::string name =
        named ? std::string(config->hcclCommName, strnlen(config->hcclCommName, COMM_NAME_MAX_LENGTH)) : segment_name;
    auto group = std::make_shared<Communicator>(Segment::attach(segment_name, ranks, rank), ranks, rank, name);
    const std::lock_guard lock(groups().mutex);
    *handle = groups().table.add(std::move(group));
    return HCCL_SUCCESS;
  } catch (const TaskError& error) {
    return refuse(HCCL_E_SYSCALL, std::string(call) + ": " + error.what());
  }
}

// Checks the handle, and puts `work` on the stream. `same`: what all ranks must agree on; empty for point-to-point calls.
HcclResult launch(const char* name, HcclComm handle, aclrtStream stream, const std::string& same,
                  std::function<void(Communicator&)> work) {
  auto group = find_group(handle);
  if (group == nullptr) {
    return refuse(HCCL_E_PARA, std::string(name) + ": the communicator must be alive, got an unknown handle");
  }
  const aclError code =
      submit(stream, name, TaskKind::kOther, [group, work = std::move(work), same = same.empty() ? same : name + (" " + same)] {
        if (!same.empty()) {
          group->meet_for(same);
        }
        work(*group);
      });
  return code == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}

std::string described(uint64_t count, HcclDataType type, int extra = 0) {
  return std::to_string(count) + " of type " + std::to_string(type) + ", " + std::to_string(extra);
}

HcclResult check_reduction(const char* name, HcclDataType type, HcclReduceOp operation) {
  return can_reduce(type, operation)
             ? HCCL_SUCCESS
             : refuse(HCCL_E_NOT_SUPPORT, std::string(name) + ": operation " + std::to_string(operation) + " on data type " +
                                              std::to_string(type) + " is not played");
}

char* bytes_of(const void* pointer) { return static_cast<char*>(const_cast<void*>(pointer)); }

HcclResult launch_transfers(const char* name, HcclComm handle, aclrtStream stream, std::vector<Transfer> transfers) {
  return launch(name, handle, stream, "", [transfers = std::move(transfers)](Communicator& group) {
    std::vector<Transfer> remote;
    const Transfer* own_send = nullptr;
    for (const Transfer& transfer : transfers) {
      if (transfer.peer >= group.ranks) {
        throw TaskError(ACL_ERROR_RT_PARAM_INVALID, "there is no rank " + std::to_string(transfer.peer));
      }
      if (transfer.peer != group.rank) {
        remote.push_back(transfer);
      } else if (transfer.send) {
        own_send = &transfer;
      } else if (own_send != nullptr) {
        std::memmove(transfer.data, own_send->data, std::min(transfer.bytes, own_send->bytes));
      }
    }
    group.transfer(remote);
  });
}

}  // namespace
}  // namespace hostnpu

using namespace hostnpu;

extern "C" {

HcclResult HcclGetRootInfo(HcclRootInfo* info) {
  if (info == nullptr) {
    return refuse(HCCL_E_PTR, "HcclGetRootInfo: rootInfo must not be null");
  }
  std::memset(info->internal, 0, sizeof info->internal);
  const std::string name = new_segment_name();
  std::memcpy(info->internal, name.data(), name.size());
  return HCCL_SUCCESS;
}

HcclResult HcclCommInitRootInfoConfig(uint32_t ranks, const HcclRootInfo* info, uint32_t rank, const HcclCommConfig* config,
                                      HcclComm* comm) {
  constexpr const char* kCall = "HcclCommInitRootInfoConfig";
  if (info == nullptr) {
    return refuse(HCCL_E_PTR, std::string(kCall) + ": rootInfo must not be null");
  }
  const std::string name(info->internal, strnlen(info->internal, 128));
  if (!name.starts_with("/hostnpu-")) {
    return refuse(HCCL_E_PARA, std::string(kCall) + ": rootInfo must come from hostnpu's HcclGetRootInfo on this machine");
  }
  return join_group(name, ranks, rank, config, kCall, comm);
}

HcclResult HcclCommInitRootInfo(uint32_t ranks, const HcclRootInfo* info, uint32_t rank, HcclComm* comm) {
  return HcclCommInitRootInfoConfig(ranks, info, rank, nullptr, comm);
}

HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t ranks, uint32_t*, uint64_t id, uint32_t rank,
                                   HcclCommConfig* config, HcclComm* sub) {
  constexpr const char* kCall = "HcclCreateSubCommConfig";
  const auto parent = comm == nullptr ? nullptr : find_group(*comm);
  if (parent == nullptr) {
    return refuse(HCCL_E_PARA, std::string(kCall) + ": the parent communicator must be alive");
  }
  return join_group(parent->segment().name() + "-" + std::to_string(id), ranks, rank, config, kCall, sub);
}

HcclResult HcclCommDestroy(HcclComm comm) {
  const std::lock_guard lock(groups().mutex);
  return groups().table.remove(comm) != nullptr ? HCCL_SUCCESS : refuse(HCCL_E_PARA, "HcclCommDestroy: unknown communicator");
}

HcclResult HcclGetCommName(HcclComm comm, char* name) {
  const auto group = find_group(comm);
  if (group == nullptr || name == nullptr) {
    return refuse(HCCL_E_PARA, "HcclGetCommName: the communicator must be alive and commName not null");
  }
  std::memcpy(name, group->name.c_str(), std::min<std::size_t>(group->name.size() + 1, COMM_NAME_MAX_LENGTH));
  return HCCL_SUCCESS;
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* error) {
  const auto group = find_group(comm);
  if (group == nullptr || error == nullptr) {
    return refuse(HCCL_E_PARA, "HcclGetCommAsyncError: the communicator must be alive and asyncError not null");
  }
  *error = group->failed() ? HCCL_E_REMOTE : HCCL_SUCCESS;
  return HCCL_SUCCESS;
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* ranks) {
  const auto group = find_group(comm);
  if (group == nullptr || ranks == nullptr) {
    return refuse(HCCL_E_PARA, "HcclGetRankSize: the communicator must be alive and rankSize not null");
  }
  *ranks = group->ranks;
  return HCCL_SUCCESS;
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  const auto group = find_group(comm);
  if (group == nullptr || rank == nullptr) {
    return refuse(HCCL_E_PARA, "HcclGetRankId: the communicator must be alive and rank not null");
  }
  *rank = group->rank;
  return HCCL_SUCCESS;
}

// Results are the same bits on every run anyway, so both values of HCCL_DETERMINISTIC are kept.
HcclResult HcclSetConfig(HcclConfig, HcclConfigValue) { return HCCL_SUCCESS; }

// Every field of HcclCommConfig may be given; only the name has a meaning here.
uint32_t HcclGetCommConfigCapability() { return HCCL_COMM_CONFIG_RESERVED; }

HcclResult HcclAllReduce(void* send, void* receive, uint64_t count, HcclDataType type, HcclReduceOp operation, HcclComm comm,
                         aclrtStream stream) {
  if (const HcclResult code = check_reduction("HcclAllReduce", type, operation); code != HCCL_SUCCESS) {
    return code;
  }
  return launch("HcclAllReduce", comm, stream, described(count, type, operation),
                [=](Communicator& group) { all_reduce(group, bytes_of(send), bytes_of(receive), count, type, operation); });
}

HcclResult HcclReduce(void* send, void* receive, uint64_t count, HcclDataType type, HcclReduceOp operation, uint32_t root,
                      HcclComm comm, aclrtStream stream) {
  if (const HcclResult code = check_reduction("HcclReduce", type, operation); code != HCCL_SUCCESS) {
    return code;
  }
  return launch("HcclReduce", comm, stream, described(count, type, static_cast<int>(root)), [=](Communicator& group) {
    reduce_to(group, bytes_of(send), bytes_of(receive), count, type, operation, root);
  });
}

HcclResult HcclReduceScatter(void* send, void* receive, uint64_t count, HcclDataType type, HcclReduceOp operation,
                             HcclComm comm, aclrtStream stream) {
  if (const HcclResult code = check_reduction("HcclReduceScatter", type, operation); code != HCCL_SUCCESS) {
    return code;
  }
  return launch("HcclReduceScatter", comm, stream, described(count, type, operation),
                [=](Communicator& group) { reduce_scatter(group, bytes_of(send), bytes_of(receive), count, type, operation); });
}

HcclResult HcclAllGather(void* send, void* receive, uint64_t count, HcclDataType type, HcclComm comm, aclrtStream stream) {
  return launch("HcclAllGather", comm, stream, described(count, type),
                [=](Communicator& group) { all_gather(group, bytes_of(send), bytes_of(receive), count * element_size(type)); });
}

HcclResult HcclBroadcast(void* data, uint64_t count, HcclDataType type, uint32_t root, HcclComm comm, aclrtStream stream) {
  return launch("HcclBroadcast", comm, stream, described(count, type, static_cast<int>(root)),
                [=](Communicator& group) { broadcast(group, bytes_of(data), count * element_size(type), root); });
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  return launch("HcclBarrier", comm, stream, "barrier", [](Communicator&) {});
}

HcclResult HcclSend(void* data, uint64_t count, HcclDataType type, uint32_t peer, HcclComm comm, aclrtStream stream) {
  return launch_transfers("HcclSend", comm, stream, {{true, peer, bytes_of(data), count * element_size(type)}});
}

HcclResult HcclRecv(void* data, uint64_t count, HcclDataType type, uint32_t peer, HcclComm comm, aclrtStream stream) {
  return launch_transfers("HcclRecv", comm, stream, {{false, peer, bytes_of(data), count * element_size(type)}});
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* items, uint32_t count, HcclComm comm, aclrtStream stream) {
  std::vector<Transfer> transfers;
  for (uint32_t index = 0; index < count; ++index) {
    const HcclSendRecvItem& item = items[index];
    transfers.push_back(
        {item.sendRecvType == HCCL_SEND, item.remoteRank, bytes_of(item.buf), item.count * element_size(item.dataType)});
  }
  return launch_transfers("HcclBatchSendRecv", comm, stream, std::move(transfers));
}

HcclResult HcclScatter(void* send, void* receive, uint64_t count, HcclDataType type, uint32_t root, HcclComm comm,
                       aclrtStream stream) {
  const auto group = find_group(comm);
  if (group == nullptr) {
    return refuse(HCCL_E_PARA, "HcclScatter: the communicator must be alive, got an unknown handle");
  }
  const std::size_t part = count * element_size(type);
  std::vector<Transfer> transfers;
  for (unsigned peer = 0; group->rank == root && peer < group->ranks; ++peer) {
    transfers.push_back({true, peer, bytes_of(send) + part * peer, part});
    if (peer == root) {
      transfers.push_back({false, root, bytes_of(receive), part});
    }
  }
  if (group->rank != root) {
    transfers.push_back({false, root, bytes_of(receive), part});
  }
  return launch_transfers("HcclScatter", comm, stream, std::move(transfers));
}

// Counts and displacements are in elements; the arrays are read now, as the caller may free them.
HcclResult HcclAlltoAllV(const void* send, const void* send_counts, const void* send_places, HcclDataType send_type,
                         const void* receive, const void* receive_counts, const void* receive_places, HcclDataType receive_type,
                         HcclComm comm, aclrtStream stream) {
  const auto group = find_group(comm);
  if (group == nullptr) {
    return refuse(HCCL_E_PARA, "HcclAlltoAllV: the communicator must be alive, got an unknown handle");
  }
  const auto at = [](const void* array, unsigned index) { return static_cast<const uint64_t*>(array)[index]; };
  const std::size_t send_size = element_size(send_type);
  const std::size_t receive_size = element_size(receive_type);
  std::vector<Transfer> transfers;
  for (unsigned peer = 0; peer < group->ranks; ++peer) {
    transfers.push_back({true, peer, bytes_of(send) + at(send_places, peer) * send_size, at(send_counts, peer) * send_size});
    transfers.push_back(
        {false, peer, bytes_of(receive) + at(receive_places, peer) * receive_size, at(receive_counts, peer) * receive_size});
  }
  return launch_transfers("HcclAlltoAllV", comm, stream, std::move(transfers));
}

HcclResult HcclAlltoAll(const void* send, uint64_t send_count, HcclDataType send_type, const void* receive,
                        uint64_t receive_count, HcclDataType receive_type, HcclComm comm, aclrtStream stream) {
  std::vector<uint64_t> send_counts(kMaxRanks, send_count);
  std::vector<uint64_t> receive_counts(kMaxRanks, receive_count);
  std::vector<uint64_t> send_places;
  std::vector<uint64_t> receive_places;
  for (uint64_t rank = 0; rank < kMaxRanks; ++rank) {
    send_places.push_back(rank * send_count);
    receive_places.push_back(rank * receive_count);
  }
  return HcclAlltoAllV(send, send_counts.data(), send_places.data(), send_type, receive, receive_counts.data(),
                       receive_places.data(), receive_type, comm, stream);
}

}  // extern "C"
