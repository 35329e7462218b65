# SPDX-License-Identifier: Apache-2.0
"""All cases of operators."""

import op_cases_attention
import op_cases_elementwise
import op_cases_inference
import op_cases_more
import op_cases_network
import op_cases_rarer
import op_cases_reduce
import op_cases_tensors

CASES = [
    *op_cases_elementwise.CASES,
    *op_cases_reduce.CASES,
    *op_cases_tensors.CASES,
    *op_cases_network.CASES,
    *op_cases_attention.CASES,
    *op_cases_inference.CASES,
    *op_cases_rarer.CASES,
    *op_cases_more.CASES,
]
