// SPDX-License-Identifier: Apache-2.0
// Every key and word of dump.json, spelled once: the writer, readers and tests take them from here (docs/formats.md).
#pragma once

#include <string_view>

namespace msprobe::field {

// --- the file
inline constexpr std::string_view kDumpFile = "dump.json";
inline constexpr std::string_view kTask = "task";
inline constexpr std::string_view kTaskStatistics = "statistics";
inline constexpr std::string_view kTaskTensor = "tensor";
inline constexpr std::string_view kLevel = "level";
inline constexpr std::string_view kFramework = "framework";
inline constexpr std::string_view kFrameworkPytorch = "pytorch";
inline constexpr std::string_view kDumpDataDir = "dump_data_dir";
inline constexpr std::string_view kData = "data";
inline constexpr std::string_view kRun = "Run";                        // ours: see below
inline constexpr std::string_view kTensorFolder = "dump_tensor_data";  // beside dump.json
inline constexpr std::string_view kPtSuffix = ".pt";

// --- an entry: one call of a module or of an API
inline constexpr std::string_view kForward = "forward";
inline constexpr std::string_view kInputArgs = "input_args";
inline constexpr std::string_view kInputKwargs = "input_kwargs";
inline constexpr std::string_view kOutput = "output";
inline constexpr std::string_view kParameters = "parameters";
inline constexpr std::string_view kInput = "input";  // in names of files: args and kwargs
inline constexpr std::string_view kOrder = "Order";  // ours: positions of the first and last tensor in the step's execution
inline constexpr std::string_view kOrderFirst = "first";
inline constexpr std::string_view kOrderLast = "last";

// --- keys of an entry, and of its name, that the original tool writes and we only read
inline constexpr std::string_view kBackward = "backward";
inline constexpr std::string_view kParametersGrad = "parameters_grad";

// --- a record: one tensor
inline constexpr std::string_view kType = "type";
inline constexpr std::string_view kTypeTensor = "torch.Tensor";
inline constexpr std::string_view kTypeP2POp = "torch.distributed.P2POp";
inline constexpr std::string_view kTypeProcessGroup = "torch.ProcessGroup";
inline constexpr std::string_view kTypeSize = "torch.Size";
inline constexpr std::string_view kTypeSlice = "slice";
inline constexpr std::string_view kTypeEllipsis = "ellipsis";
inline constexpr std::string_view kDtype = "dtype";
inline constexpr std::string_view kShape = "shape";
inline constexpr std::string_view kMax = "Max";
inline constexpr std::string_view kMin = "Min";
inline constexpr std::string_view kMean = "Mean";
inline constexpr std::string_view kNorm = "Norm";
inline constexpr std::string_view kSpecial = "Special";     // ours: what kind of not-finite stands behind a null
inline constexpr std::string_view kCounts = "Counts";       // ours
inline constexpr std::string_view kNote = "Note";           // ours: why the numbers are missing or of another type
inline constexpr std::string_view kDataName = "data_name";  // the file with the tensor's values
inline constexpr std::string_view kFullName = "FullName";   // ours: what data_name would be if file names could be anything
inline constexpr std::string_view kRequiresGrad = "requires_grad";
inline constexpr std::string_view kMd5 = "md5";
inline constexpr std::string_view kValue = "value";
inline constexpr std::string_view kGroupRanks = "group_ranks";
inline constexpr std::string_view kTensor = "tensor";  // of a P2POp
inline constexpr std::string_view kPeer = "peer";      // likewise
inline constexpr std::string_view kP2POpName = "op";   // likewise
inline constexpr std::string_view kCountNan = "nan";
inline constexpr std::string_view kCountPosInf = "pos_inf";
inline constexpr std::string_view kCountNegInf = "neg_inf";
inline constexpr std::string_view kCountZero = "zero";

// --- kRun
inline constexpr std::string_view kRunPid = "pid";
inline constexpr std::string_view kRunTime = "time";
inline constexpr std::string_view kRunGraphs = "graphs";
inline constexpr std::string_view kGraphId = "id";
inline constexpr std::string_view kGraphSites = "sites";
inline constexpr std::string_view kGraphReplays = "replays";
inline constexpr std::string_view kRunAccount = "Account";
inline constexpr std::string_view kAccountHooked = "hooked";
inline constexpr std::string_view kAccountRecorded = "recorded";
inline constexpr std::string_view kAccountFiltered = "filtered";
inline constexpr std::string_view kAccountSilent = "silent";
inline constexpr std::string_view kAccountDropped = "dropped";

// --- words under kSpecial. Never with a sign in front: a reader of the original format refuses text that starts with one.
inline constexpr std::string_view kNan = "nan";
inline constexpr std::string_view kPosInf = "pos_inf";
inline constexpr std::string_view kNegInf = "neg_inf";

}  // namespace msprobe::field
