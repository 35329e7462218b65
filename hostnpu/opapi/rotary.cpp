// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: x * cos + rotated(x) * sin, in fp32.
#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {
namespace {

enum class RotaryMode : int64_t { kHalf = 0, kInterleaved = 1 };

// Every pair (a, b) becomes (-b, a): a pair is an element of the first half and its like of the second, or two neighbours.
at::Tensor rotated(const at::Tensor& x, int64_t mode) {
  switch (static_cast<RotaryMode>(mode)) {
    case RotaryMode::kHalf: {
      const auto halves = x.chunk(2, -1);
      return at::cat({at::neg(halves[1]), halves[0]}, -1);
    }
    case RotaryMode::kInterleaved: {
      const auto pairs = x.unflatten(-1, {-1, 2}).unbind(-1);
      return at::stack({at::neg(pairs[1]), pairs[0]}, -1).flatten(-2);
    }
  }
  TORCH_CHECK(false, "hostnpu knows mode 0 (half) and 1 (interleaved), got ", mode);
}

void store_summed(OptionalOut out, const at::Tensor& gradient) {
  if (out.has_value() && out->numel() > 0) {
    store(*out, gradient.sum_to_size(out->sizes()));
  }
}

}  // namespace

HOSTNPU_OPERATOR(RotaryPositionEmbedding, (In x, In cosine, In sine, int64_t mode, Out out)) {
  const at::Tensor values = widened(x);
  store(out, at::add(at::mul(values, widened(cosine)), at::mul(rotated(values, mode), widened(sine))));
}

// A rotation's transpose is its negative. Without x the gradients of cosine and sine are not wanted.
HOSTNPU_OPERATOR(RotaryPositionEmbeddingGrad, (In gradient, In cosine, In sine, OptionalIn x, int64_t mode, Out x_gradient,
                                               OptionalOut cosine_gradient, OptionalOut sine_gradient)) {
  const at::Tensor upstream = widened(gradient);
  store(x_gradient, at::sub(at::mul(upstream, widened(cosine)), rotated(at::mul(upstream, widened(sine)), mode)));
  if (x.has_value()) {
    const at::Tensor values = widened(*x);
    store_summed(cosine_gradient, at::mul(upstream, values));
    store_summed(sine_gradient, at::mul(upstream, rotated(values, mode)));
  }
}

}  // namespace hostnpu
