// SPDX-License-Identifier: Apache-2.0
// Work on all cores: independent ranges, and blocks that are made in any order and used in theirs.
#pragma once

#include <cstddef>
#include <functional>

namespace msprobe {

// Threads to use where none are asked for: those that the process may run on, at least 1.
int default_threads();

// Calls work(begin, end) for consecutive ranges of at most `range` items, from `threads` threads, this one included. The first
// exception is raised here, once all threads have ended; ranges that were not begun are then left out.
void parallel_ranges(std::size_t count, std::size_t range, int threads,
                     const std::function<void(std::size_t begin, std::size_t end)>& work);

// Calls make(index) for each index from any thread, and use(index) in the order of the indices, by one thread at a time. No more than
// some blocks a thread are made and not used yet, so memory does not grow with `count`. Exceptions as above.
void parallel_in_order(std::size_t count, int threads, const std::function<void(std::size_t index)>& make,
                       const std::function<void(std::size_t index)>& use);

// The blocks that may be made and not used: what `make` fills can live in that many places, index % ahead(threads).
std::size_t ahead(int threads);

}  // namespace msprobe
