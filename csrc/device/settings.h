// SPDX-License-Identifier: Apache-2.0
// How a device's log works, where there is a choice. Set once, when the dumper starts.
#pragma once

namespace msprobe::device {

struct Settings {
  // NPU: how rows reach the host. Off: a copy in the graph to pinned memory, then a callback that only reads host memory (what
  // CANN documents). On: the callback itself copies, in relaxed capture mode.
  bool npu_copy_in_callback = false;
  // NPU: how results reach a row. Off: the reductions write there (`out=`). On: they write temporaries, which are copied.
  bool npu_rows_by_copy = false;
  // Whether captured tensors that share bytes while both are alive are noted.
  bool identity = true;
};

}  // namespace msprobe::device
