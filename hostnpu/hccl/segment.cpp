// SPDX-License-Identifier: Apache-2.0
// Makes, maps and removes the shared memory of a communicator.
#include "segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "runtime/error.h"

namespace hostnpu {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t rounded(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::size_t mailboxes_at() { return rounded(sizeof(Header)); }

std::size_t slots_at(unsigned ranks) { return mailboxes_at() + rounded(sizeof(Mailbox)) * ranks * ranks; }

[[noreturn]] void fail_to(const char* what, const std::string& name) {
  throw TaskError(ACL_ERROR_RT_IPC_ERROR,
                  std::string("cannot ") + what + " the shared memory " + name + ": " + std::strerror(errno));
}

}  // namespace

std::string new_segment_name() {
  std::random_device random;
  return "/hostnpu-" + std::to_string(getpid()) + "-" + std::to_string(random()) + std::to_string(random());
}

std::shared_ptr<Segment> Segment::attach(const std::string& name, unsigned ranks, unsigned rank) {
  const std::size_t size = slots_at(ranks) + kSlotBytes * ranks;
  const int file = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    fail_to("open", name);
  }
  // Every rank asks for the same size; a new file is zero, which is the first state of everything in it.
  void* base = ::ftruncate(file, static_cast<off_t>(size)) == 0
                   ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                   : MAP_FAILED;
  const int error = errno;
  ::close(file);
  if (base == MAP_FAILED) {
    errno = error;
    fail_to("map", name);
  }
  std::shared_ptr<Segment> segment(new Segment(name, base, size, ranks));
  segment->header().ranks[rank].pid = getpid();
  if (++segment->header().attached == ranks) {
    ::shm_unlink(name.c_str());
  }
  return segment;
}

Segment::~Segment() { ::munmap(base_, size_); }

Mailbox& Segment::mailbox(unsigned sender, unsigned receiver) const {
  const std::size_t index = static_cast<std::size_t>(sender) * ranks_ + receiver;
  return *reinterpret_cast<Mailbox*>(static_cast<char*>(base_) + mailboxes_at() + rounded(sizeof(Mailbox)) * index);
}

char* Segment::slot(unsigned rank) const { return static_cast<char*>(base_) + slots_at(ranks_) + kSlotBytes * rank; }

}  // namespace hostnpu
