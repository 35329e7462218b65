// SPDX-License-Identifier: Apache-2.0
// Settings that calls change while the program runs.
#pragma once

namespace hostnpu {

// How long a stream waits for a host function; 0: for ever. Set by aclrtSetOpWaitTimeout.
unsigned op_wait_timeout_ms();

}  // namespace hostnpu
