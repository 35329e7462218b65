// SPDX-License-Identifier: Apache-2.0
// The queue and its writer threads.
#include "dump/save_queue.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <new>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "dump/pt_frame.h"

namespace msprobe::dump {
namespace {

// The copies of one replay follow each other at shorter distances than this.
constexpr std::chrono::milliseconds kCopyGap{1};
// Smaller tensors are written at one go, and their copies are no reason to stand back. Also the size of a piece of larger ones.
constexpr std::size_t kLargeBytes = std::size_t{1} << 20U;

// While it lives, a thread waits for writers: they do not stand back. Made and ended with the queue's mutex held.
class WritersWanted {
 public:
  WritersWanted(int& waiting, std::condition_variable& rest) : waiting_(waiting) {
    ++waiting_;
    rest.notify_all();
  }
  ~WritersWanted() { --waiting_; }
  WritersWanted(const WritersWanted&) = delete;
  WritersWanted& operator=(const WritersWanted&) = delete;

 private:
  int& waiting_;
};

}  // namespace

std::size_t save_bytes_from_environment() {
  constexpr const char* kVariable = "MSPROBE_SAVE_QUEUE_BYTES";
  if (const char* text = std::getenv(kVariable)) {
    const std::string_view digits(text);
    std::size_t bytes = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    if (code != std::errc() || end != digits.data() + digits.size() || bytes == 0) {
      fail(kVariable, " must be a number of bytes above 0, got '", digits, "'");
    }
    return bytes;
  }
  constexpr std::size_t kMost = std::size_t{2} << 30U;
  const auto memory = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return std::min(kMost, memory / 8);
}

SaveBuffer new_buffer(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  const std::align_val_t alignment{bytes >= 2 * kHugePage ? kHugePage : alignof(std::max_align_t)};
  SaveBuffer buffer(static_cast<std::byte*>(::operator new[](bytes, alignment)), FreeBuffer{alignment});
  if (bytes >= 2 * kHugePage) {
    madvise(buffer.get(), bytes, MADV_HUGEPAGE);  // a wish: nothing is lost where it is not granted
  }
  return buffer;
}

// A core for each writer, one for the copy, and one for the thread that replays.
SaveQueue::SaveQueue(SaveQueueOptions options)
    : options_(options),
      copies_first_(
          options.copies_first.value_or(std::thread::hardware_concurrency() < static_cast<unsigned>(options.threads) + 2)) {}

SaveQueue::~SaveQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  rest_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

bool SaveQueue::acquire(const SaveJob& job) {
  std::string reason;
  {
    std::unique_lock lock(mutex_);
    const auto has_room = [&] { return used_ == 0 || used_ + job.bytes <= options_.max_bytes; };
    const WritersWanted wanted(waiting_, rest_);
    if (room_.wait_for(lock, options_.wait_limit, has_room)) {
      used_ += job.bytes;
      copying_ += job.bytes >= kLargeBytes ? 1 : 0;
      return true;
    }
    reason = "cannot save '" + job.path + "': no room came within " + std::to_string(options_.wait_limit.count() / 1000) +
             " s: " + std::to_string(used_) + " bytes wait for the disk";
  }
  lose(job, reason);
  return false;
}

SaveBuffer SaveQueue::allocate(std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto spare = spares_.find(bytes); spare != spares_.end()) {
      SaveBuffer buffer = std::move(spare->second);
      spares_.erase(spare);
      spare_bytes_ -= bytes;
      return buffer;
    }
    drop_spares(options_.max_bytes - std::min(options_.max_bytes, used_));
  }
  return new_buffer(bytes);
}

void SaveQueue::recycle(SaveBuffer buffer, std::size_t bytes) {
  if (bytes > 0 && used_ + spare_bytes_ + bytes <= options_.max_bytes) {
    spares_.emplace(bytes, std::move(buffer));
    spare_bytes_ += bytes;
  }
}

void SaveQueue::drop_spares(std::size_t allowed) {
  while (spare_bytes_ > allowed) {
    const auto largest = std::prev(spares_.end());
    spare_bytes_ -= largest->first;
    spares_.erase(largest);
  }
}

void SaveQueue::push(SaveJob job) {
  if (const std::string failure = start_threads(); !failure.empty()) {
    give_up(job, "cannot save '" + job.path + "': no thread can be started: " + failure);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    end_copy(job.bytes);
    unfinished_.insert(pushed_);
    jobs_.push_back({pushed_++, Clock::now(), std::move(job)});
  }
  work_.notify_one();
}

std::string SaveQueue::start_threads() {
  const std::lock_guard lock(mutex_);
  while (threads_.size() < static_cast<std::size_t>(options_.threads)) {
    try {
      threads_.emplace_back([this] { run(); });
    } catch (const std::system_error& error) {
      return threads_.empty() ? error.what() : "";  // fewer threads are enough, none are not
    }
  }
  return {};
}

void SaveQueue::give_up(const SaveJob& job, std::string_view error) {
  {
    const std::lock_guard lock(mutex_);
    end_copy(job.bytes);
    used_ -= job.bytes;
  }
  room_.notify_all();
  lose(job, error);
}

void SaveQueue::lose(const SaveJob& job, std::string_view error) {
  {
    const std::lock_guard lock(mutex_);
    if (lost_++ == 0) {
      error_ = error;
    }
  }
  if (job.done) {
    job.done(job, error);
  }
}

void SaveQueue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) {
      return;
    }
    if (copies_pass(jobs_.front().pushed)) {
      rest_.wait_for(lock, kCopyGap);
      continue;
    }
    auto [number, pushed, job] = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    try {
      write(job, pushed);
    } catch (const std::exception& error) {
      lose(job, error.what());
    }
    lock.lock();
    used_ -= job.bytes;
    recycle(std::move(job.data), job.bytes);
    unfinished_.erase(number);
    room_.notify_all();
    idle_.notify_all();
  }
}

void SaveQueue::write(const SaveJob& job, Clock::time_point pushed) {
  if (job.make_folders) {
    const std::string folder = job.path.substr(0, job.path.rfind('/'));
    if (access(folder.c_str(), F_OK) != 0) {
      create_folders(folder);
    }
  }
  write_file(job, pushed);
  if (job.done) {
    job.done(job, {});
  }
}

// Large ones piece by piece: the checksum's pass brings a piece into the cache, from where it is written, and between pieces copies may
// pass.
void SaveQueue::write_file(const SaveJob& job, Clock::time_point pushed) {
  AtomicFile file(job.path);
  std::uint32_t checksum = job.bytes < kLargeBytes ? extend_checksum(0, {job.data.get(), job.bytes}) : 0;
  PtFrame frame = make_pt_frame(job.dtype, job.sizes, job.bytes, checksum);
  file.write(frame.head);
  if (job.bytes < kLargeBytes) {
    file.write({reinterpret_cast<const char*>(job.data.get()), job.bytes});
  } else {
    for (std::size_t at = 0; at < job.bytes; at += kLargeBytes) {
      let_copies_pass(pushed);
      const std::span<const std::byte> piece(job.data.get() + at, std::min(kLargeBytes, job.bytes - at));
      checksum = extend_checksum(checksum, piece);
      file.write({reinterpret_cast<const char*>(piece.data()), piece.size()});
    }
    frame = make_pt_frame(job.dtype, job.sizes, job.bytes, checksum);
    file.overwrite_front(frame.head);
  }
  file.write(frame.tail);
  file.commit();
}

bool SaveQueue::copies_pass(Clock::time_point pushed) const {
  const Clock::time_point now = Clock::now();
  return copies_first_ && !stopping_ && waiting_ == 0 && used_ <= options_.max_bytes / 2 &&
         now < pushed + options_.longest_rest && (copying_ > 0 || now < last_copy_ + kCopyGap);
}

void SaveQueue::let_copies_pass(Clock::time_point pushed) {
  std::unique_lock lock(mutex_);
  while (copies_pass(pushed)) {
    rest_.wait_for(lock, kCopyGap);
  }
}

void SaveQueue::end_copy(std::size_t bytes) {
  if (bytes >= kLargeBytes) {
    --copying_;
    last_copy_ = Clock::now();
  }
}

// Jobs finish out of order, and others may be pushed meanwhile: only those before the call count.
void SaveQueue::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t end = pushed_;
  const WritersWanted wanted(waiting_, rest_);
  idle_.wait(lock, [&] { return unfinished_.empty() || *unfinished_.begin() >= end; });
}

void SaveQueue::throw_error() {
  std::string message;
  std::uint64_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    lost = std::exchange(lost_, 0);
    message = std::exchange(error_, {});
  }
  if (lost > 0) {
    fail("msprobe: ", lost, lost == 1 ? " tensor was not saved: " : " tensors were not saved; the first: ", message);
  }
}

std::size_t SaveQueue::bytes_waiting() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace msprobe::dump
