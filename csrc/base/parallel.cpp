// SPDX-License-Identifier: Apache-2.0
// Threads that live for one call; work is handed out by a counter.
#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace msprobe {
namespace {

constexpr std::size_t kAheadPerThread = 3;

// Runs `body` on `threads` threads; keeps the first exception of any.
class Team {
 public:
  void run(int threads, const std::function<void()>& body) {
    {
      std::vector<std::jthread> others;
      others.reserve(static_cast<std::size_t>(std::max(0, threads - 1)));
      int wanted = threads - 1;
      while (static_cast<int>(others.size()) < wanted) {
        try {
          others.emplace_back([&] { guarded(body); });
        } catch (const std::system_error&) {
          wanted = 0;  // no more threads to be had: those there are do all the work
        }
      }
      guarded(body);
    }
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }

  void keep(std::exception_ptr failure) {
    const std::scoped_lock lock(mutex_);
    if (!failure_) {
      failure_ = std::move(failure);
    }
    failed_.store(true, std::memory_order_release);
  }

 private:
  void guarded(const std::function<void()>& body) {
    try {
      body();
    } catch (...) {
      keep(std::current_exception());
    }
  }

  std::mutex mutex_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
};

}  // namespace

int default_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return std::max(1, CPU_COUNT(&set));
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_ranges(std::size_t count, std::size_t range, int threads,
                     const std::function<void(std::size_t begin, std::size_t end)>& work) {
  const std::size_t ranges = (count + range - 1) / range;
  std::atomic<std::size_t> next{0};
  Team team;
  team.run(static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(std::max(1, threads)), ranges)), [&] {
    for (std::size_t index = next.fetch_add(1); index < ranges && !team.failed(); index = next.fetch_add(1)) {
      work(index * range, std::min(count, (index + 1) * range));
    }
  });
}

std::size_t ahead(int threads) { return kAheadPerThread * static_cast<std::size_t>(std::max(1, threads)); }

void parallel_in_order(std::size_t count, int threads, const std::function<void(std::size_t index)>& make,
                       const std::function<void(std::size_t index)>& use) {
  const std::size_t window = ahead(threads);
  std::vector<std::uint8_t> made(window);
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t next_made = 0;
  std::size_t next_used = 0;
  bool using_one = false;
  Team team;
  // Whoever finishes a block uses all that are next in order, while the others go on making.
  const auto use_ready = [&](std::unique_lock<std::mutex>& lock) {
    while (!team.failed() && !using_one && next_used < count && made[next_used % window] != 0) {
      using_one = true;
      const std::size_t index = next_used;
      lock.unlock();
      try {
        use(index);
      } catch (...) {
        team.keep(std::current_exception());
      }
      lock.lock();
      made[index % window] = 0;
      ++next_used;
      using_one = false;
      changed.notify_all();
    }
  };
  team.run(
      static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(std::max(1, threads)), std::max<std::size_t>(1, count))),
      [&] {
        std::unique_lock lock(mutex);
        for (;;) {
          changed.wait(lock, [&] { return team.failed() || next_made == count || next_made < next_used + window; });
          if (team.failed() || next_made == count) {
            return;
          }
          const std::size_t index = next_made++;
          lock.unlock();
          try {
            make(index);
          } catch (...) {
            team.keep(std::current_exception());
          }
          lock.lock();
          if (team.failed()) {
            changed.notify_all();
            return;
          }
          made[index % window] = 1;
          use_ready(lock);
        }
      });
}

}  // namespace msprobe
