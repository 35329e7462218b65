// SPDX-License-Identifier: Apache-2.0
// Random numbers. They are a function of (seed, offset) alone, so that an eager call and a replay that is given the same pair draw
// the same numbers, and the next offset draws others. The numbers are not those of an NPU.
//
// Names that end in Tensor are for captured graphs: seed and offset lie in device memory, where the host changes them before each
// replay; `offset_in_graph` tells the draws of one graph apart.
#include <ATen/CPUGeneratorImpl.h>

#include "opapi/compute.h"
#include "opapi/signature.h"

namespace hostnpu {
namespace {

// Neighbouring pairs must give unrelated sequences, and the CPU's generator looks at 32 bits of its seed: so every bit is mixed
// into every other (the finalizer of SplitMix64).
uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

at::Generator generator(uint64_t seed, uint64_t offset) {
  return at::make_generator<at::CPUGeneratorImpl>(mixed(mixed(seed) + offset));
}

at::Generator generator(In seed, In offset, uint64_t offset_in_graph) {
  return generator(static_cast<uint64_t>(seed.item<int64_t>()),
                   static_cast<uint64_t>(offset.item<int64_t>()) + offset_in_graph);
}

// Bit k of the mask, counted from the lowest bit of the first byte, is 1 where element k is kept.
void write_bit_mask(const at::Tensor& mask, int64_t bits, double drop_probability, const at::Generator& source) {
  constexpr int64_t kBitsPerByte = 8;
  TORCH_CHECK(mask.scalar_type() == at::kByte && mask.is_contiguous() && mask.numel() * kBitsPerByte >= bits,
              "the mask must be contiguous bytes with a bit for each of ", bits, " elements, got ", mask.sizes());
  at::Tensor kept = at::zeros({mask.numel() * kBitsPerByte}, at::kByte);
  kept.narrow(0, 0, bits).bernoulli_(1 - drop_probability, source);
  const at::Tensor weights = at::pow(2, at::arange(kBitsPerByte, at::kInt)).to(at::kByte);
  mask.view({-1}).copy_(at::sum(kept.view({-1, kBitsPerByte}) * weights, {1}));
}

int64_t number_of_elements(Ints shape) { return c10::multiply_integers(shape); }

}  // namespace

HOSTNPU_OPERATOR(InplaceNormal, (Out self, float mean, float std, int64_t seed, int64_t offset)) {
  self.normal_(mean, std, generator(static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)));
}
HOSTNPU_OPERATOR(InplaceNormalTensor, (Out self, float mean, float std, In seed, In offset, int64_t offset_in_graph)) {
  self.normal_(mean, std, generator(seed, offset, static_cast<uint64_t>(offset_in_graph)));
}

// Means and deviations of each element's own, or of all.
HOSTNPU_OPERATOR(NormalTensorTensor, (In mean, In std, int64_t seed, int64_t offset, Out out)) {
  out.normal_(0, 1, generator(static_cast<uint64_t>(seed), static_cast<uint64_t>(offset))).mul_(std).add_(mean);
}
HOSTNPU_OPERATOR(NormalFloatFloat, (float mean, float std, int64_t seed, int64_t offset, Out out)) {
  out.normal_(mean, std, generator(static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)));
}
// `count` is the number of elements.
HOSTNPU_OPERATOR(SimThreadExponential, (Out self, int64_t /*count*/, double lambda, int64_t seed, int64_t offset)) {
  self.exponential_(lambda, generator(static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)));
}
HOSTNPU_OPERATOR(Randperm, (int64_t count, int64_t seed, int64_t offset, Out out)) {
  at::randperm_out(out, count, generator(static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)));
}

HOSTNPU_OPERATOR(InplaceUniform, (Out self, double from, double to, uint64_t seed, uint64_t offset)) {
  self.uniform_(from, to, generator(seed, offset));
}
HOSTNPU_OPERATOR(InplaceUniformTensor, (Out self, double from, double to, In seed, In offset, uint64_t offset_in_graph)) {
  self.uniform_(from, to, generator(seed, offset, offset_in_graph));
}

HOSTNPU_OPERATOR(InplaceRandom, (Out self, int64_t from, int64_t to, int64_t seed, int64_t offset)) {
  self.random_(from, to, generator(static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)));
}
HOSTNPU_OPERATOR(InplaceRandomTensor, (Out self, int64_t from, int64_t to, In seed, In offset, int64_t offset_in_graph)) {
  self.random_(from, to, generator(seed, offset, static_cast<uint64_t>(offset_in_graph)));
}

HOSTNPU_OPERATOR(InplaceBernoulli, (Out self, Number probability, int64_t seed, int64_t offset)) {
  self.bernoulli_(probability.toDouble(), generator(static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)));
}
HOSTNPU_OPERATOR(InplaceBernoulliTensor, (Out self, In probability, int64_t seed, int64_t offset)) {
  self.bernoulli_(probability, generator(static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)));
}

HOSTNPU_OPERATOR(Multinomial, (In self, int64_t samples, bool replacement, int64_t seed, int64_t offset, Out out)) {
  const auto source = generator(static_cast<uint64_t>(seed), static_cast<uint64_t>(offset));
  store(out, at::multinomial(self, samples, replacement, source));
}
HOSTNPU_OPERATOR(MultinomialTensor,
                 (In self, int64_t samples, bool replacement, In seed, In offset, int64_t offset_in_graph, Out out)) {
  const auto source = generator(seed, offset, static_cast<uint64_t>(offset_in_graph));
  store(out, at::multinomial(self, samples, replacement, source));
}

// `probability` is that of dropping; the type is the one the caller will drop in, which changes nothing here.
HOSTNPU_OPERATOR(DropoutGenMask, (Ints shape, double probability, int64_t seed, int64_t offset, Out out)) {
  const auto source = generator(static_cast<uint64_t>(seed), static_cast<uint64_t>(offset));
  write_bit_mask(out, number_of_elements(shape), probability, source);
}
HOSTNPU_OPERATOR(DropoutGenMaskV2,
                 (Ints shape, double probability, int64_t seed, int64_t offset, at::ScalarType /*type*/, Out out)) {
  const auto source = generator(static_cast<uint64_t>(seed), static_cast<uint64_t>(offset));
  write_bit_mask(out, number_of_elements(shape), probability, source);
}
HOSTNPU_OPERATOR(DropoutGenMaskV2Tensor, (Ints shape, double probability, In seed, In offset, int64_t offset_in_graph,
                                          at::ScalarType /*type*/, Out out)) {
  const auto source = generator(seed, offset, static_cast<uint64_t>(offset_in_graph));
  write_bit_mask(out, number_of_elements(shape), probability, source);
}

// Forward and backward: what is kept is scaled up by what was dropped.
HOSTNPU_OPERATOR(DropoutDoMask, (In self, In mask, double probability, Out out)) {
  const at::Tensor kept = unpacked_bits(mask, self.numel()).view(self.sizes());
  const double scale = probability < 1 ? 1 / (1 - probability) : 0;
  at::mul_out(out, at::mul(self, kept), c10::scalar_to_tensor(scale));
}

}  // namespace hostnpu
