// SPDX-License-Identifier: Apache-2.0
// Where two runs of one model part: the first place whose outputs differ by more than the noise that is there already.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/dtype.h"

// What it is given: the calls of both files, and one Place for each tensor of a matched call (measure(), from any thread). What it
// gives: a Verdict, which divergence_text.h puts into words and into JSON. docs/compare.md has the rule.
namespace msprobe::compare::divergence {

enum class Side : std::uint8_t { kTarget, kGolden };
enum class Section : std::uint8_t { kInput, kOutput, kParameter };  // keyword arguments are inputs
enum class Statistic : std::uint8_t { kMax, kMin, kMean, kNorm, kRelativeL2, kNone };

// --- given ----------------------------------------------------------------------------------------------------------

// One tensor of one call on one side. Scalars, sizes and other arguments that are no tensors are none.
struct Leaf {
  Section section = Section::kInput;
  std::string_view path;  // what stands behind the section in the row's name: "0", "1.mask", "attention_mask"
  DType dtype = DType::kUnknown;
  std::string_view shape;           // as printed: "[2, 8]"
  std::array<double, 4> numbers{};  // Max, Min, Mean, Norm; NaN and the infinities as themselves
  std::uint8_t known = 0;           // bit i: numbers[i] is there; a null without a Special is not
  [[nodiscard]] bool knows(Statistic statistic) const { return ((known >> static_cast<unsigned>(statistic)) & 1U) != 0; }
};
inline constexpr std::uint8_t kAllKnown = 0xF;

// What the numbers of a tensor on both sides say.
enum class Finding : std::uint8_t {
  kSkipped,     // nothing: no numbers, no elements, all zero, the same infinities, a mask, a type that has no numbers
  kDistance,    // `distance` counts
  kSame,        // integers and truth values, all numbers equal
  kDiffers,     // integers and truth values, not equal
  kShape,       // hard, as is all that follows
  kMissing,     // only one side has this tensor
  kNotFinite,   // NaN or an infinity on one side, another one or none on the other
  kGoldenZero,  // golden is all zero, target is not
};

inline constexpr std::uint32_t kNoLeaf = std::numeric_limits<std::uint32_t>::max();

// A tensor of a matched call, on both sides.
struct Place {
  std::uint32_t call = 0;               // index into Input::target
  std::uint32_t leaf = kNoLeaf;         // index into Input::leaves(kTarget, call); kNoLeaf if the target has none
  std::uint32_t golden_leaf = kNoLeaf;  // index into Input::leaves(kGolden, golden call)
  Section section = Section::kInput;
  Finding finding = Finding::kSkipped;
  Statistic statistic = Statistic::kNone;  // whose part of `distance` is largest
  DType target_dtype = DType::kUnknown;
  DType golden_dtype = DType::kUnknown;
  float distance = 0;          // E
  float relative_l2 = -1;      // |target - golden| / |golden| over the elements; < 0: not known
  float golden_rms = 0;        // golden's root mean square; -1: not known
  float target_rms = 0;        // target's; -1: not known
  std::uint64_t identity = 0;  // of integers: hash of shape and numbers of both sides
};

// Fills everything but `call`, `leaf`, `golden_leaf` and `relative_l2`. Needs nothing but its arguments: any thread may call it.
Place measure(const Leaf& target, const Leaf& golden);

// A tensor of a matched call that the other side's call does not have.
Place measure_one_sided(Side side, const Leaf& leaf);

// A call as it stands in dump.json.
struct Call {
  std::string_view name;    // the key: Module.layers.0.Layer.forward.0, Aten.mm.3.forward
  std::int64_t first = -1;  // Order; -1 if the file has none
  std::int64_t last = -1;
};

inline constexpr std::uint32_t kUnmatched = std::numeric_limits<std::uint32_t>::max();

// Everything about one rank of one step. Views must outlive find().
struct Input {
  std::vector<Call> target;  // all calls, in the order of the file
  std::vector<Call> golden;
  std::vector<std::uint32_t> golden_of;  // for each target call its golden call, or kUnmatched
  std::vector<Place> places;             // in any order
  // All tensors of a call: for the few calls of which more must be told. May be empty: then paths, numbers and operators are not.
  std::function<std::vector<Leaf>(Side, std::uint32_t call)> leaves;
};

// --- found ----------------------------------------------------------------------------------------------------------

enum class Grade : std::uint8_t { kNone, kHint, kSuspect, kFault };

// What the place of a difference says about the code at fault.
enum class Where : std::uint8_t {
  kCall,       // inside this call, of which nothing inside was recorded
  kTail,       // in the container's own code, after its last child
  kBefore,     // in the own code of what encloses the call, before the call
  kCaller,     // before the outermost call: its inputs differ
  kParameter,  // a parameter or buffer of the call's module
};

// An operator inside the module that was named.
struct OperatorSpot {
  std::string call;         // Aten.mm.3.forward
  std::string golden_call;  // its partner; the number may be another one
  bool clear = false;       // above its limit; else only the one with the largest step
  bool by_input = false;    // its input was off already: what made it was not recorded
  double distance = 0;      // infinite if hard
  double noise = 0;         // m
};

// A call in the chain before or after.
struct Link {
  std::string call;
  std::optional<double> distance;  // the largest of its outputs; infinite if hard
};

// One difference that noise does not explain.
struct Spot {
  Grade grade = Grade::kNone;
  Where where = Where::kCall;
  std::string call;  // at which it is visible: the whole key
  std::string golden_call;
  std::string code;  // qualified name of the module whose own code it is; "" if that is not known
  Section section = Section::kOutput;
  std::string path;  // of the tensor in its section
  std::string target_dtype;
  std::string golden_dtype;
  std::string target_shape;  // "[2, 8]"; "" if the side has no such tensor
  std::string golden_shape;
  Finding finding = Finding::kDistance;
  Statistic statistic = Statistic::kNone;
  std::optional<double> target;  // the numbers of `statistic`
  std::optional<double> golden;
  double distance = 0;  // E, or the relative L2 error; infinite if hard
  double noise = 0;     // B
  double ratio = 0;     // distance / noise
  double limit = 0;     // the ratio above which a place is named here
  bool may_have_started_earlier = false;
  bool inputs_by_statistics = false;  // it is inside the call, and that its inputs were fine is known by statistics alone
  std::int64_t unmatched_before = 0;  // calls without a partner since the last place that was fine
  std::int64_t position = 0;          // among all inputs and outputs seen, from 0
  std::vector<Link> before;           // calls that ended before it, the last one last
  std::vector<Link> after;            // calls that came next
  std::vector<std::string> around;    // calls that enclose it, outermost first
  std::optional<OperatorSpot> op;
  std::vector<std::string> only_target;  // operators of the code at fault that the other side does not have
  std::vector<std::string> only_golden;
};

// One walk over everything seen, by one measure.
struct Walk {
  std::optional<Spot> suspect;  // before the fault, or alone
  std::optional<Spot> fault;
  std::vector<Spot> hints;   // only if asked for
  double noise_end = 0;      // B after the last place that was looked at
  std::string saturated_at;  // the call after which B was 0.04 or more; "" if it never was
  double largest = 0;        // the largest finite measure of all outputs of the step, walked or not
  std::string largest_at;
  [[nodiscard]] const Spot* first() const;
};

struct Options {
  bool hints = false;  // ratios of 5 to 8 as well
};

struct Verdict {
  DType target_type = DType::kUnknown;  // of most float outputs
  DType golden_type = DType::kUnknown;
  double unit = 0;  // u: half a unit in the last place at 1, of the coarser of the two

  std::vector<Spot> parameters;  // the first ones whose numbers differ, in order of execution
  std::int64_t parameters_off = 0;
  std::int64_t parameters_judged = 0;
  std::int64_t parameters_not_comparable = 0;  // other shapes or natures: fused, sharded or quantised on one side

  Walk statistics;               // by E
  std::optional<Walk> elements;  // by the relative L2 error, where tensors were compared

  std::int64_t discrete = 0;  // choices (top-k, argmax, routing) that came out differently
  std::string first_discrete;
  std::int64_t calls = 0;      // matched calls that were walked
  std::int64_t judged = 0;     // their inputs and outputs with a distance, a hard difference, or integers
  std::int64_t skipped = 0;    // those about which nothing can be said
  std::int64_t unmatched = 0;  // calls of the target's walk without a partner
  bool ordered = false;        // every call has both stamps
  bool backward = false;       // what was found is in the backward pass, which the constants were not made for

  std::int64_t collectives = 0;     // that ended before the first spot; all, if there is none
  std::string last_collective;      // the last of them
  bool through_collective = false;  // what was named is a collective whose inputs were fine: it came from another rank

  // What to tell first: a parameter, else the earlier of the walks' spots; nullptr if there is nothing.
  [[nodiscard]] const Spot* first() const;
};

Verdict find(const Input& input, const Options& options = {});

}  // namespace msprobe::compare::divergence
