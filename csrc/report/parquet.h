// SPDX-License-Identifier: Apache-2.0
// A comparison as a Parquet file: typed columns, for DuckDB, pandas, Spark.
#pragma once

#include <memory>
#include <string>

#include "compare/table.h"

namespace msprobe::report {

// Columns: `rank`, `step` (integers, null where the folders named none) and `row_index` (from 0, the order of the table), then the
// columns of the CSV under their names. Numbers are doubles (percentages: of percent), null where the CSV has a word (N/A,
// unsupported, None); NaN and infinities are themselves. All else is text.
std::unique_ptr<compare::TableWriter> parquet_writer(const compare::TableInfo& table, const std::string& path);

}  // namespace msprobe::report
