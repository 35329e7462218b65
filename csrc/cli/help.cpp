// SPDX-License-Identifier: Apache-2.0
// Texts of the help, at most 100 columns wide.
#include "cli/help.h"

namespace msprobe::cli {

std::string_view program_help() {
  return R"(usage: msprobe COMMAND ...

See inside a captured PyTorch graph.

commands:
  compare -tp TARGET -gp GOLDEN   compare two dumps, and say where they part
  view DUMP                       show one dump as a page, and what stands out in it
  merge_result -i DIR -o DIR -config FILE
                                  put chosen rows of all ranks' comparisons side by side
  hostnpu run SCRIPT ...          run a Python program that uses torch_npu without an NPU
  hostnpu info                    tell what hostnpu offers, and for which torch and torch-npu

options:
  -h, --help                      show this text; `msprobe COMMAND --help` tells more
  --version                       show the version
)";
}

std::string_view compare_help() {
  return R"(usage: msprobe compare -tp TARGET -gp GOLDEN [options]

Compare two dumps, write a table of every tensor, and say where the two runs part.

what to compare:
  -tp, --target_path PATH    the run that is looked at
  -gp, --golden_path PATH    the run that is right
      Each is a dump.json of any name, a folder with one, a rank, proc or pid folder, a step folder
      that holds such folders, or a dump_path that holds step folders. Ranks and steps are paired by
      their numbers.
  --rank LIST                only these ranks: numbers and ranges, as 0,4-7
  --step LIST                only these steps

how rows find each other:
  -fm, --fuzzy_match         the number of a call may differ
  -dm, --data_mapping FILE   YAML, name of a row in target: name of a row in golden
  -cm, --cell_mapping [FILE] Cell and Module are the same; YAML, part of a name: other part

what is written:
  -o, --output_path DIR      where the files go; made if it is not there (default ./output)
  --format LIST              of csv, xlsx, parquet, jsonl and html (default csv)
  --xlsx                     the same as --format xlsx
  --html                     one page for a browser beside the tables, with all ranks and steps
  -da, --diff_analyze        where it starts as JSON too
  --hints                    name weaker signs of a divergence as well
  --quiet                    print no summary

tensors:
  --rtol, --atol NUMBER      elements further apart count as over tolerance (default: by dtype)

program:
  --fail-on LIST             exit with 1 if there are rows of: error, warning (or worse), unmatched;
                             never (default)
  --threads N                (default: all cores)
  -h, --help                 show this text

`-tp=PATH` works as `-tp PATH`, and `--target-path` as `--target_path`.
exit codes: 0 compared, 1 --fail-on is met, 2 wrong usage or input that cannot be compared
)";
}

std::string_view view_help() {
  return R"(usage: msprobe view DUMP [options]

Write one page for a browser that shows a dump: its modules, the statistics in the order of execution,
where NaN or Inf first appears, and outputs that are dead, constant or saturated.

  DUMP                    a dump.json of any name, a folder with one, a rank, proc or pid folder, a step
                          folder that holds such folders, or a dump_path that holds step folders
  -o, --output_path DIR   where view_{time}.html goes; made if it is not there (default ./output)
  --rank LIST             only these ranks: numbers and ranges, as 0,4-7
  --step LIST             only these steps
  --threads N             (default: all cores)
  --fail-on LIST          exit with 1 if there are: nan (NaN or Inf in any tensor), broken (entries that
                          are no records), warning (whatever stands out); never (default)
  --quiet                 print nothing
  -h, --help              show this text

exit codes: 0 written, 1 --fail-on is met, 2 wrong usage or a dump that cannot be read
)";
}

std::string_view merge_help() {
  return R"(usage: msprobe merge_result -i DIR -o DIR -config FILE

Put chosen rows of all ranks' comparisons side by side: a workbook with one sheet an index, one
column a rank.

  -i, --input_dir DIR           holds compare_result_rank{N}_{time}.csv or .xlsx of several ranks
  -o, --output_dir DIR          where multi_ranks_compare_merge_{time}.xlsx goes
  -config, --config-path FILE   YAML with two lists:
                                  api: parts of names that choose the rows (required)
                                  compare_index: columns to merge (default: all of the comparison)
  -h, --help                    show this text

exit codes: 0 merged, 2 wrong usage or input that cannot be merged
)";
}

}  // namespace msprobe::cli
