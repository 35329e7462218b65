// SPDX-License-Identifier: Apache-2.0
// HOSTNPU_OPERATOR: from one definition to the pair of C functions that CANN's headers declare.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>

#include <tuple>
#include <type_traits>
#include <utility>

#include "opapi/aclnn_headers.h"  // generated
#include "opapi/arguments.h"
#include "opapi/operator_table.h"

namespace hostnpu {

template <class Function>
struct Signature;

template <class... Parameters>
struct Signature<void(Parameters...)> {
  // aclnnXxxGetWorkspaceSize as CANN's header declares it.
  using PhaseOne = aclnnStatus(typename Argument<Parameters>::Abi..., uint64_t* workspace_size, aclOpExecutor** executor);
  using Kept = std::tuple<typename Argument<Parameters>::Kept...>;

  static constexpr const char* kCTypes[] = {kCType<typename Argument<Parameters>::Abi>...};
  static_assert(((kCType<typename Argument<Parameters>::Abi> != nullptr) && ...), "a parameter kind without a C type");

  template <void (*compute)(Parameters...), OperatorInfo& info>
  static aclnnStatus phase_one(typename Argument<Parameters>::Abi... arguments, uint64_t* workspace_size,
                               aclOpExecutor** executor) {
    if (workspace_size == nullptr || executor == nullptr) {
      set_error_message(std::string(info.name) + ": workspaceSize and executor must not be null");
      return kAclnnNullParameter;
    }
    *workspace_size = 0;
    try {
      // Braces: the arguments are looked at from left to right, so that the error is about the first wrong one.
      auto kept = Kept{Argument<Parameters>::keep(arguments)...};
      *executor = new aclOpExecutor{&info, [kept = std::move(kept)]() mutable { run<compute>(info, kept); }};
      return ACL_SUCCESS;
    } catch (const NullArgument&) {
      set_error_message(std::string(info.name) + info.parameters + ": a parameter that is not optional is null");
      return kAclnnNullParameter;
    } catch (const c10::Error& error) {
      set_error_message(std::string(info.name) + info.parameters + ": " + error.what_without_backtrace());
    } catch (const std::exception& error) {
      set_error_message(std::string(info.name) + info.parameters + ": " + error.what());
    }
    return kAclnnInvalidParameter;
  }

 private:
  // On the stream's thread. Autograd is passed by: its kernels would cost as much as a small operator and record nothing.
  template <void (*compute)(Parameters...)>
  static void run(OperatorInfo& info, Kept& kept) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    try {
      std::apply(compute, kept);
      std::apply([](const auto&... items) { (check_shape(items), ...); }, kept);
    } catch (const c10::Error& error) {
      fail(info, kept, error.what_without_backtrace());
    } catch (const std::exception& error) {
      fail(info, kept, error.what());
    }
    info.calls.fetch_add(1, std::memory_order_relaxed);
  }

  [[noreturn]] static void fail(const OperatorInfo& info, const Kept& kept, const char* reason) {
    std::string values;
    const auto append = [&values](const auto&... items) { ((values += (values.empty() ? "" : ", ") + describe(items)), ...); };
    std::apply(append, kept);
    throw std::runtime_error(std::string(info.name) + info.parameters + " with (" + values + "): " + reason);
  }
};

}  // namespace hostnpu

// HOSTNPU_OPERATOR(Add, (In self, In other, Number alpha, Out out)) { at::add_out(out, self, other, alpha); }
// defines aclnnAddGetWorkspaceSize (phase 1: turns the arguments into a task) and aclnnAdd (phase 2: puts it onto the stream).
// Parameters are named by the kinds of arguments.h, in the order of CANN's header; the body runs once for every run of the
// operator. C++ cannot give a template instance a name for C, so phase 1 is an "ifunc": an exported name with the exact C type
// whose address the dynamic linker asks of a resolver, and the resolver answers with the template instance.
#define HOSTNPU_HIDDEN __attribute__((visibility("hidden")))
#define HOSTNPU_RESOLVED_BY(resolver) __attribute__((visibility("default"), ifunc(resolver)))
#define HOSTNPU_OPERATOR(Name, Parameters)                                                                                  \
  static void compute_##Name Parameters;                                                                                    \
  using Signature##Name = ::hostnpu::Signature<decltype(compute_##Name)>;                                                   \
  static_assert(std::is_same_v<Signature##Name::PhaseOne, decltype(aclnn##Name##GetWorkspaceSize)>,                         \
                "aclnn" #Name ": these are not the parameters of CANN's header (opapi/aclnn_signatures.tsv)");              \
  static ::hostnpu::OperatorInfo info_##Name("aclnn" #Name, #Parameters, Signature##Name::kCTypes);                         \
  extern "C" HOSTNPU_HIDDEN Signature##Name::PhaseOne* hostnpu_resolve_##Name() {                                           \
    return &Signature##Name::phase_one<compute_##Name, info_##Name>;                                                        \
  }                                                                                                                         \
  extern "C" Signature##Name::PhaseOne aclnn##Name##GetWorkspaceSize HOSTNPU_RESOLVED_BY("hostnpu_resolve_" #Name);         \
  extern "C" HOSTNPU_API ::hostnpu::aclnnStatus aclnn##Name(void*, uint64_t, aclOpExecutor* executor, aclrtStream stream) { \
    return ::hostnpu::launch(executor, stream);                                                                             \
  }                                                                                                                         \
  static void compute_##Name Parameters

// Beside an operator whose workspace torch_npu asks for ahead of a task group's updates: the largest it may ever need, which is none.
#define HOSTNPU_MAX_WORKSPACE(Name) \
  extern "C" Signature##Name::PhaseOne aclnn##Name##GetMaxWorkspaceSize HOSTNPU_RESOLVED_BY("hostnpu_resolve_" #Name)
