// SPDX-License-Identifier: Apache-2.0
// Compares verdicts of several ranks, and of several steps.
#include "compare/divergence_across.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace msprobe::compare::divergence {

AcrossRanks across_ranks(std::span<const Named> ranks) {
  AcrossRanks across;
  using Key = std::tuple<bool, std::int64_t, std::int64_t>;  // received, collectives, place in the walk
  std::optional<Key> earliest;
  const auto key_of = [&](const Verdict& verdict, const Spot& spot) {
    const bool received = verdict.through_collective || spot.where == Where::kCaller;
    return Key{received, verdict.collectives, across.any_collective ? 0 : spot.position};
  };
  for (const Named& rank : ranks) {
    across.any_collective = across.any_collective || rank.verdict->collectives > 0 || rank.verdict->through_collective;
  }
  for (const Named& rank : ranks) {
    const Verdict& verdict = *rank.verdict;
    const Spot* spot = verdict.first();
    AcrossRanks::Rank told{rank.name, "", Grade::kNone, verdict.collectives, false};
    if (spot != nullptr) {
      const Key key = key_of(verdict, *spot);
      told.call = spot->call;
      told.grade = spot->grade;
      told.received = std::get<0>(key);
      if (!earliest || key < *earliest) {
        earliest = key;
      }
    }
    across.ranks.push_back(std::move(told));
  }
  for (std::size_t i = 0; i < ranks.size() && earliest; ++i) {
    const Spot* spot = ranks[i].verdict->first();
    if (spot != nullptr && key_of(*ranks[i].verdict, *spot) == *earliest) {
      across.first.push_back(i);
      if (across.shared_collective.empty()) {
        across.shared_collective = ranks[i].verdict->last_collective;
      }
    }
  }
  return across;
}

AcrossSteps across_steps(std::span<const Named> steps) {
  AcrossSteps across;
  double product = 0;
  int ratios = 0;
  for (const Named& step : steps) {
    const Verdict& verdict = *step.verdict;
    const Spot* spot = verdict.first();
    AcrossSteps::Step told{step.name, "", Grade::kNone, verdict.statistics.largest, verdict.statistics.largest_at};
    if (spot != nullptr) {
      told.call = spot->call;
      told.grade = spot->grade;
      if (!across.first) {
        across.first = across.steps.size();
      }
    }
    if (!across.steps.empty() && across.steps.back().largest > 0 && told.largest > 0) {
      product += std::log(told.largest / across.steps.back().largest);
      ++ratios;
    }
    across.steps.push_back(std::move(told));
  }
  if (ratios > 0) {
    across.growth = std::exp(product / ratios);
  }
  return across;
}

}  // namespace msprobe::compare::divergence
