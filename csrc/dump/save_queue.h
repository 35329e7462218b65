// SPDX-License-Identifier: Apache-2.0
// Writes tensors to .pt files on threads of its own, with a bound on the bytes that wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "format/dtype.h"

namespace msprobe::dump {

// Host memory; large ones in huge pages, which cost a fraction to touch for the first time.
struct FreeBuffer {
  std::align_val_t alignment{};
  void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, alignment); }
};
using SaveBuffer = std::unique_ptr<std::byte[], FreeBuffer>;

SaveBuffer new_buffer(std::size_t bytes);  // throws std::bad_alloc

// A contiguous tensor in host memory on its way to a file.
struct SaveJob {
  std::string path;
  bool make_folders = false;  // those of path
  DType dtype = DType::kUnknown;
  std::vector<std::int64_t> sizes;
  SaveBuffer data;
  std::size_t bytes = 0;
  // Called once for each job, on a writer thread or where it failed before that (then without data): `error` is empty, or tells why there
  // is no file.
  std::function<void(const SaveJob& job, std::string_view error)> done;
};

struct SaveQueueOptions {
  std::size_t max_bytes = 0;                      // of tensors taken and not yet on disk
  int threads = 2;                                // started at the first job
  std::chrono::milliseconds wait_limit{600'000};  // for room; below the limit after which HCCL gives a silent peer up
  // Whether threads that write stand back while large tensors are copied from a device, as long as the queue is at most half full
  // and nobody waits for it, `longest_rest` a tensor at most. A replay waits for those copies: where cores are few, the writers
  // would take theirs. Unset: where they are few.
  std::optional<bool> copies_first = std::nullopt;
  std::chrono::milliseconds longest_rest{500};  // what waits is lost to kill -9
};

// The bound for acl_save: the environment variable MSPROBE_SAVE_QUEUE_BYTES, else 2 GiB or an eighth of the machine's memory, whichever
// is less. Throws Error if the variable is not a number of bytes above 0.
std::size_t save_bytes_from_environment();

// Thread-safe. A tensor is taken in two steps, so that it takes no memory before there is room for it: acquire() its bytes, copy it
// into a job, push(). Nothing is dropped in silence: a file that cannot be written, or room that does not come, is an error that
// throw_error() throws once, with the number of tensors lost since.
class SaveQueue {
 public:
  explicit SaveQueue(SaveQueueOptions options);
  ~SaveQueue();
  SaveQueue(const SaveQueue&) = delete;
  SaveQueue& operator=(const SaveQueue&) = delete;

  // Waits for room for job.bytes; from then to push() or give_up() its bytes count as being copied. A tensor larger than the bound waits
  // until nothing else is there. False: the limit passed; the job has failed.
  bool acquire(const SaveJob& job);

  // Memory for acquired bytes, not zeroed. Buffers that have been written are kept for the next tensor of their size, within the bound:
  // fresh memory costs more to touch than the copy into it. Throws std::bad_alloc.
  SaveBuffer allocate(std::size_t bytes);
  void push(SaveJob job);                                    // its bytes were acquired
  void give_up(const SaveJob& job, std::string_view error);  // its bytes were acquired and it will not be pushed
  void lose(const SaveJob& job, std::string_view error);     // its bytes were not acquired: counts it and tells the job

  // Returns when every job pushed before the call is on disk or has failed.
  void flush();
  void throw_error();

  [[nodiscard]] std::size_t bytes_waiting() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct NumberedJob {
    std::uint64_t number;
    Clock::time_point pushed;
    SaveJob job;
  };

  std::string start_threads();  // the reason why there are none, or empty
  void run();
  void write(const SaveJob& job, Clock::time_point pushed);
  void write_file(const SaveJob& job, Clock::time_point pushed);
  void let_copies_pass(Clock::time_point pushed);
  // With mutex_ held:
  [[nodiscard]] bool copies_pass(Clock::time_point pushed) const;  // whether a job that was pushed then stands back
  void end_copy(std::size_t bytes);
  void recycle(SaveBuffer buffer, std::size_t bytes);
  void drop_spares(std::size_t allowed);  // until no more than `allowed` bytes are kept

  const SaveQueueOptions options_;
  const bool copies_first_;
  mutable std::mutex mutex_;
  std::condition_variable room_;  // bytes were given back
  std::condition_variable work_;  // a job came, or the end
  std::condition_variable idle_;  // a job was finished
  std::condition_variable rest_;  // writers need not stand back any more
  std::deque<NumberedJob> jobs_;
  std::vector<std::thread> threads_;
  std::size_t used_ = 0;                           // bytes acquired and not given back
  std::multimap<std::size_t, SaveBuffer> spares_;  // by size
  std::size_t spare_bytes_ = 0;                    // used_ + spare_bytes_ stay within the bound
  std::uint64_t pushed_ = 0;                       // jobs ever
  std::set<std::uint64_t> unfinished_;             // their numbers
  int copying_ = 0;                                // large jobs acquired and not yet pushed
  Clock::time_point last_copy_;                    // when one of them ended
  int waiting_ = 0;                                // threads that wait for writers: in acquire() or flush()
  bool stopping_ = false;
  std::string error_;       // the first since throw_error()
  std::uint64_t lost_ = 0;  // tensors since then
};

}  // namespace msprobe::dump
