// SPDX-License-Identifier: Apache-2.0
// Element-wise reductions.
#include "reduction.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cstdint>
#include <stdexcept>
#include <type_traits>

namespace hostnpu {
namespace {

template <class Element>
constexpr bool kIsSmallFloat = std::is_same_v<Element, c10::Half> || std::is_same_v<Element, c10::BFloat16>;

template <class Element, class Operation>
void reduce_as(const std::vector<const char*>& inputs, char* out, std::size_t count, Operation operation) {
  using Accumulator = std::conditional_t<kIsSmallFloat<Element>, float, Element>;
  auto* result = reinterpret_cast<Element*>(out);
  for (std::size_t index = 0; index < count; ++index) {
    auto value = static_cast<Accumulator>(reinterpret_cast<const Element*>(inputs[0])[index]);
    for (std::size_t rank = 1; rank < inputs.size(); ++rank) {
      value = static_cast<Accumulator>(
          operation(value, static_cast<Accumulator>(reinterpret_cast<const Element*>(inputs[rank])[index])));
    }
    result[index] = static_cast<Element>(value);
  }
}

template <class Element>
void reduce_elements(const std::vector<const char*>& inputs, char* out, std::size_t count, HcclReduceOp operation) {
  switch (operation) {
    case HCCL_REDUCE_SUM:
      return reduce_as<Element>(inputs, out, count, [](auto a, auto b) { return a + b; });
    case HCCL_REDUCE_PROD:
      return reduce_as<Element>(inputs, out, count, [](auto a, auto b) { return a * b; });
    case HCCL_REDUCE_MAX:  // NaN wins, whichever side it is on
      return reduce_as<Element>(inputs, out, count, [](auto a, auto b) { return b > a || b != b ? b : a; });
    case HCCL_REDUCE_MIN:
      return reduce_as<Element>(inputs, out, count, [](auto a, auto b) { return b < a || b != b ? b : a; });
    default:
      throw std::invalid_argument("HCCL reduction " + std::to_string(operation) + " is not played");
  }
}

}  // namespace

std::size_t element_size(HcclDataType type) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
    case HCCL_DATA_TYPE_UINT8:
    case HCCL_DATA_TYPE_HIF8:
    case HCCL_DATA_TYPE_FP8E4M3:
    case HCCL_DATA_TYPE_FP8E5M2:
    case HCCL_DATA_TYPE_FP8E8M0:
      return 1;
    case HCCL_DATA_TYPE_INT16:
    case HCCL_DATA_TYPE_UINT16:
    case HCCL_DATA_TYPE_FP16:
    case HCCL_DATA_TYPE_BFP16:
      return 2;
    case HCCL_DATA_TYPE_INT32:
    case HCCL_DATA_TYPE_UINT32:
    case HCCL_DATA_TYPE_FP32:
      return 4;
    case HCCL_DATA_TYPE_INT64:
    case HCCL_DATA_TYPE_UINT64:
    case HCCL_DATA_TYPE_FP64:
      return 8;
    case HCCL_DATA_TYPE_INT128:
      return 16;
    default:
      return 0;
  }
}

bool can_reduce(HcclDataType type, HcclReduceOp operation) {
  const bool known_operation = operation >= HCCL_REDUCE_SUM && operation <= HCCL_REDUCE_MIN;
  return known_operation && element_size(type) != 0 && type < HCCL_DATA_TYPE_INT128;
}

void reduce(const std::vector<const char*>& inputs, char* out, std::size_t count, HcclDataType type, HcclReduceOp operation) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return reduce_elements<std::int8_t>(inputs, out, count, operation);
    case HCCL_DATA_TYPE_UINT8:
      return reduce_elements<std::uint8_t>(inputs, out, count, operation);
    case HCCL_DATA_TYPE_INT16:
      return reduce_elements<std::int16_t>(inputs, out, count, operation);
    case HCCL_DATA_TYPE_UINT16:
      return reduce_elements<std::uint16_t>(inputs, out, count, operation);
    case HCCL_DATA_TYPE_FP16:
      return reduce_elements<c10::Half>(inputs, out, count, operation);
    case HCCL_DATA_TYPE_BFP16:
      return reduce_elements<c10::BFloat16>(inputs, out, count, operation);
    case HCCL_DATA_TYPE_INT32:
      return reduce_elements<std::int32_t>(inputs, out, count, operation);
    case HCCL_DATA_TYPE_UINT32:
      return reduce_elements<std::uint32_t>(inputs, out, count, operation);
    case HCCL_DATA_TYPE_FP32:
      return reduce_elements<float>(inputs, out, count, operation);
    case HCCL_DATA_TYPE_INT64:
      return reduce_elements<std::int64_t>(inputs, out, count, operation);
    case HCCL_DATA_TYPE_UINT64:
      return reduce_elements<std::uint64_t>(inputs, out, count, operation);
    case HCCL_DATA_TYPE_FP64:
      return reduce_elements<double>(inputs, out, count, operation);
    default:
      throw std::invalid_argument("HCCL data type " + std::to_string(type) + " cannot be reduced");
  }
}

}  // namespace hostnpu
