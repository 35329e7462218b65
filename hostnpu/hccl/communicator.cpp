// SPDX-License-Identifier: Apache-2.0
// The barrier, and what ends a wait for the other ranks.
#include "communicator.h"

#include <signal.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "runtime/error.h"
#include "runtime/stream.h"

namespace hostnpu {
namespace {

// HCCL's own default for HCCL_EXEC_TIMEOUT.
constexpr int kDefaultTimeoutSeconds = 1836;

std::chrono::seconds wait_limit() {
  const char* text = std::getenv("HCCL_EXEC_TIMEOUT");
  const int seconds = text == nullptr ? 0 : std::atoi(text);
  return std::chrono::seconds(seconds > 0 ? seconds : kDefaultTimeoutSeconds);
}

// Short waits spin, long ones leave the core to the ranks that compute.
void pause(unsigned round) {
  if (round < 200) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// A process that ended counts as ended before its parent has asked for its exit code, too.
bool process_ended(int pid) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) {
    return true;
  }
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(") ");  // "123 (name) S ...": the name may hold anything
  return name_end != std::string::npos && (text[name_end + 2] == 'Z' || text[name_end + 2] == 'X');
}

}  // namespace

Communicator::Communicator(std::shared_ptr<Segment> segment, unsigned rank_count, unsigned own_rank, std::string group_name)
    : ranks(rank_count), rank(own_rank), name(std::move(group_name)), segment_(std::move(segment)) {
  wait_until([this] { return segment_->header().attached >= ranks; }, "the other ranks to join the group");
}

void Communicator::give_up(const std::string& why) {
  segment_->header().failed = 1;
  throw TaskError(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR,
                  "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + ": " + why);
}

void Communicator::check_peers() {
  for (unsigned peer = 0; peer < ranks; ++peer) {
    const int pid = segment_->header().ranks[peer].pid;
    if (pid != 0 && process_ended(pid)) {
      give_up("rank " + std::to_string(peer) + " (process " + std::to_string(pid) + ") has ended");
    }
  }
}

void Communicator::wait_until(const std::function<bool()>& ready, const char* what) {
  constexpr unsigned kRoundsBetweenChecks = 2000;
  const auto deadline = std::chrono::steady_clock::now() + wait_limit();
  for (unsigned round = 1; !ready(); ++round) {
    if (failed()) {
      throw TaskError(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, "another rank of the group gave up; its own error tells why");
    }
    if (waiting_is_cancelled()) {
      give_up(std::string("its stream was destroyed while it waited for ") + what);
    }
    if (round % kRoundsBetweenChecks == 0) {
      check_peers();
      if (std::chrono::steady_clock::now() > deadline) {
        give_up(std::string("waited longer than HCCL_EXEC_TIMEOUT for ") + what);
      }
    }
    pause(round);
  }
}

void Communicator::barrier() {
  Header& header = segment_->header();
  const std::uint32_t generation = header.generation;
  if (++header.arrived == ranks) {
    header.arrived = 0;
    ++header.generation;
    return;
  }
  wait_until([&] { return header.generation != generation; }, "the other ranks");
}

void Communicator::meet_for(const std::string& operation) {
  Header& header = segment_->header();
  header.ranks[rank].operation = std::hash<std::string>()(operation);
  barrier();
  for (unsigned peer = 0; peer < ranks; ++peer) {
    if (header.ranks[peer].operation != header.ranks[rank].operation) {
      give_up("rank " + std::to_string(peer) + " called another collective than this rank's " + operation);
    }
  }
  barrier();  // nobody goes on to the next operation while another still compares
}

}  // namespace hostnpu
