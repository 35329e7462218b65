// SPDX-License-Identifier: Apache-2.0
// The collectives: what each rank shows the others in its slot, and what it takes from theirs. They run on a stream's thread.
#pragma once

#include <cstddef>

#include "communicator.h"
#include "reduction.h"

namespace hostnpu {

void all_reduce(Communicator& group, const char* send, char* receive, std::size_t count, HcclDataType type,
                HcclReduceOp operation);
void all_gather(Communicator& group, const char* send, char* receive, std::size_t bytes);
void broadcast(Communicator& group, char* data, std::size_t bytes, unsigned root);
// Every rank brings `ranks` parts of `count` elements and gets the reduced part of its own.
void reduce_scatter(Communicator& group, const char* send, char* receive, std::size_t count, HcclDataType type,
                    HcclReduceOp operation);
// Only the root's `receive` is written.
void reduce_to(Communicator& group, const char* send, char* receive, std::size_t count, HcclDataType type,
               HcclReduceOp operation, unsigned root);

}  // namespace hostnpu
