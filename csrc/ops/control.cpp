// SPDX-License-Identifier: Apache-2.0
// The C interface for Python (ctypes): opening, stepping and closing dumpers. Every function may be called from any thread and
// without the GIL; on failure it returns -1 (or 0 for a handle) and the reason is msprobe_error_text() of the same thread.
#include <c10/core/Device.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "device/export.h"
#include "device/save_sink.h"
#include "dump/saver.h"
#include "ops/dumper.h"

namespace {

struct LastError {
  std::string text;
  int errno_value = 0;
};

LastError& last_error() {
  thread_local LastError error;
  return error;
}

// Runs `work` and turns exceptions into the given result.
template <class Result, class Work>
Result guarded(Result failure, const Work& work) noexcept {
  try {
    return work();
  } catch (const msprobe::FileError& error) {
    last_error() = {error.what(), error.errno_value()};
  } catch (const c10::Error& error) {
    last_error() = {error.what_without_backtrace(), 0};
  } catch (const std::exception& error) {
    last_error() = {error.what(), 0};
  }
  return failure;
}

// What Python fills in (msprobe/lib/aclgraph_dump_ext.py has the same layout).
extern "C" struct MsprobeSlice {
  std::int64_t dim;
  std::int64_t size;  // -1: any
  std::int64_t begin;
  std::int64_t end;
};

extern "C" struct MsprobeOptions {
  const char* level;
  const char* scope_first;
  const char* scope_last;
  const char* run;
  const MsprobeSlice* slices;
  std::int64_t slice_count;
  bool tensors;
  bool modules;
  bool scope_first_wanted;
  bool scope_last_wanted;
  bool inputs;
  bool outputs;
  bool npu_copy_in_callback;
  bool npu_rows_by_copy;
  bool identity;
};

msprobe::ops::DumperOptions options_from(const MsprobeOptions& given) {
  msprobe::ops::DumperOptions options;
  options.level = given.level;
  options.run = given.run;
  options.tensors = given.tensors;
  options.wanted = {given.scope_first, given.scope_last, given.scope_first_wanted, given.scope_last_wanted, given.modules,
                    given.inputs,      given.outputs};
  for (std::int64_t i = 0; i < given.slice_count; ++i) {
    const MsprobeSlice& slice = given.slices[i];
    options.slices.push_back({slice.dim, slice.size < 0 ? std::nullopt : std::optional(slice.size), slice.begin, slice.end});
  }
  options.settings = {given.npu_copy_in_callback, given.npu_rows_by_copy, given.identity};
  return options;
}

std::shared_ptr<msprobe::ops::Dumper> open_dumper(std::int64_t handle) {
  auto dumper = msprobe::ops::find_dumper(handle);
  if (dumper == nullptr) {
    msprobe::fail("msprobe: the dumper with the handle ", handle, " is closed");
  }
  return dumper;
}

}  // namespace

extern "C" {

MSPROBE_API const char* msprobe_error_text() { return last_error().text.c_str(); }

// errno of a file error, else 0.
MSPROBE_API int msprobe_error_number() { return last_error().errno_value; }

MSPROBE_API std::int64_t msprobe_dumper_open(const MsprobeOptions* options) {
  return guarded<std::int64_t>(0, [&] { return msprobe::ops::open_dumper(options_from(*options)); });
}

// Where the first step is written: the folder of dump.json.
MSPROBE_API int msprobe_dumper_folder(std::int64_t handle, const char* folder) {
  return guarded(-1, [&] {
    open_dumper(handle)->set_folder(folder);
    return 0;
  });
}

// A module that the dumper was given: `log::Account::add`.
MSPROBE_API std::int64_t msprobe_dumper_site(std::int64_t handle, const char* name, bool filtered, bool has_forward,
                                             std::int64_t parent) {
  using Kind = msprobe::log::Account::Kind;
  const Kind kind = filtered ? Kind::kFiltered : has_forward ? Kind::kCollected : Kind::kWithoutForward;
  return guarded<std::int64_t>(-1, [&] { return open_dumper(handle)->session().account.add(name, kind, parent); });
}

// How many captured forwards there have been. 0 once the dumper is closed, which another thread may do while a forward asks.
MSPROBE_API std::int64_t msprobe_dumper_graphs(std::int64_t handle) {
  return guarded<std::int64_t>(-1, [&] {
    const auto dumper = msprobe::ops::find_dumper(handle);
    return dumper == nullptr ? 0 : static_cast<std::int64_t>(dumper->session().graphs.count());
  });
}

// The module's forward was called.
MSPROBE_API int msprobe_dumper_called(std::int64_t handle, std::int64_t site) {
  return guarded(-1, [&] {
    if (const auto dumper = msprobe::ops::find_dumper(handle)) {
      dumper->session().account.called(site);
    }
    return 0;
  });
}

MSPROBE_API int msprobe_dumper_recording(std::int64_t handle, bool on) {
  return guarded(-1, [&] {
    open_dumper(handle)->set_recording(on);
    return 0;
  });
}

// Room for `sites` captured tensors on `device` ("npu:0"), made now because a capture may not be able to.
MSPROBE_API int msprobe_dumper_reserve(std::int64_t handle, const char* device, std::int64_t sites) {
  return guarded(-1, [&] {
    if (const auto device_log = open_dumper(handle)->device_log(c10::Device(device))) {
      device_log->reserve(sites);
    }
    return 0;
  });
}

// Writes all records and forgets them. `empty`: also if there are none. What comes afterwards is written to `next_folder`, if `next_recording`.
// Returns the number of entries.
MSPROBE_API std::int64_t msprobe_dumper_write(std::int64_t handle, bool empty, const char* next_folder, bool next_recording) {
  return guarded<std::int64_t>(-1, [&] { return open_dumper(handle)->write(empty, {next_folder, next_recording}); });
}

MSPROBE_API int msprobe_dumper_discard(std::int64_t handle) {
  return guarded(-1, [&] {
    open_dumper(handle)->discard();
    return 0;
  });
}

// In a forked child.
MSPROBE_API int msprobe_dumper_renew(std::int64_t handle) {
  return guarded(-1, [&] {
    msprobe::ops::renew_dumper(handle);
    return 0;
  });
}

// The outermost forward of this thread begins, or has raised. (commit_ ends it.)
MSPROBE_API int msprobe_dumper_enter(std::int64_t handle) {
  return guarded(-1, [&] {
    if (const auto dumper = msprobe::ops::find_dumper(handle)) {
      dumper->enter();
    }
    return 0;
  });
}

MSPROBE_API int msprobe_dumper_abandon(std::int64_t handle) {
  return guarded(-1, [&] {
    if (const auto dumper = msprobe::ops::find_dumper(handle)) {
      dumper->abandon();
    }
    return 0;
  });
}

MSPROBE_API int msprobe_dumper_close(std::int64_t handle) {
  return guarded(-1, [&] {
    msprobe::ops::close_dumper(handle);
    return 0;
  });
}

// Returns when the device ("npu:0") has done what it was given: its saves are in the queue.
MSPROBE_API int msprobe_save_wait(const char* device) {
  return guarded(-1, [&] {
    msprobe::device::wait_for_saves(c10::Device(device));
    return 0;
  });
}

// Returns when every tensor saved before the call is on disk. Devices must have been waited for.
MSPROBE_API int msprobe_save_flush() {
  return guarded(-1, [] {
    msprobe::dump::Saver::instance().queue().flush();
    return 0;
  });
}

// Fails once for the tensors that could not be saved since the last call.
MSPROBE_API int msprobe_save_check() {
  return guarded(-1, [] {
    msprobe::dump::Saver::instance().queue().throw_error();
    return 0;
  });
}

}  // extern "C"
