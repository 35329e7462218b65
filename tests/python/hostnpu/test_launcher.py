# SPDX-License-Identifier: Apache-2.0
"""The launcher: how programs are started, what it refuses and in which words, and what `info` tells."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from msprobe.hostnpu.checks import find_real_cann
from msprobe.hostnpu.errors import HostnpuError
from msprobe.hostnpu.launcher import program_environment
from msprobe.hostnpu.places import BuildInfo, build_info
from msprobe.hostnpu.settings import choose_settings

DEFAULTS = {"torch": "2.13.0", "torch_npu": "2.13.0", "cann": "8.5.0", "operators": ["aclnnAdd", "aclnnMul"]}


def hostnpu(*words: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "msprobe.hostnpu", *words],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
        check=False,
    )


def refusal(*words: str, **environment: str) -> str:
    """The one line that a wrong call prints."""
    result = hostnpu(*words, **environment)
    assert (result.returncode, result.stdout) == (2, ""), result
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("msprobe hostnpu: ")
    return result.stderr


def fake_lib(folder: Path, **changes: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "libascendcl.so").touch()
    (folder / "build_info.json").write_text(json.dumps({**DEFAULTS, **changes}))
    return folder


def fake_npu(folder: Path, version: str = "2.13.0") -> Path:
    (folder / "torch_npu").mkdir(parents=True)
    (folder / "torch_npu" / "version.py").write_text(f"__version__ = '{version}'\n")
    return folder


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text("import os, sys\nprint(*sys.argv[1:], os.environ['HOSTNPU_DEVICES'])\nsys.exit(5)\n")
    return path


# --- running ---------------------------------------------------------------------------------------------------------


def test_script_with_arguments_and_exit_code(script: Path) -> None:
    result = hostnpu("run", "--devices", "3", str(script), "--devices", "9", "-x")
    assert (result.returncode, result.stdout) == (5, "--devices 9 -x 3\n"), result.stderr


def test_option_with_equals_sign(script: Path) -> None:
    assert hostnpu("run", "--devices=4", str(script)).stdout == "4\n"


def test_code_module_and_standard_input(tmp_path: Path) -> None:
    assert hostnpu("run", "-c", "import sys; print(sys.argv)", "a").stdout == "['-c', 'a']\n"
    assert hostnpu("run", "-", "b", stdin="import sys; print(sys.argv)").stdout == "['-', 'b']\n"
    (tmp_path / "a_module.py").write_text("import sys; print(__name__, sys.argv[1:])")
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    assert hostnpu("run", "-m", "a_module", "c", PYTHONPATH=path).stdout == "__main__ ['c']\n"


def test_signal_reaches_the_program_and_its_caller() -> None:
    result = hostnpu("run", "-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
    assert result.returncode == -signal.SIGTERM


def test_a_program_computes_on_the_npu() -> None:
    result = hostnpu("run", "-c", "import torch; print((torch.ones(3, device='npu') + 1).cpu().tolist())")
    assert result.stdout == "[2.0, 2.0, 2.0]\n", result.stderr


def test_chip_and_memory() -> None:
    code = "import torch; p = torch.npu.get_device_properties(0); print(p.name, p.total_memory)"
    result = hostnpu("run", "--soc", "Ascend910B4", "--memory", "1.5", "-c", code)
    assert result.stdout.split() == ["Ascend910B4", str(3 << 29)], result.stderr


# --- wrong calls -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "run or info"),
        (["start"], "'start'"),
        (["run"], "what to run is missing"),
        (["run", "--devices", "2"], "what to run is missing"),
        (["run", "--devices"], "--devices needs a value"),
        (["run", "--devices=", "x.py"], "--devices needs a value"),
        (["run", "--devices", "0", "x.py"], "--devices must be a number from 1 to 64, got '0'"),
        (["run", "--devices", "two", "x.py"], "got 'two'"),
        (["run", "--devices", "65", "x.py"], "got '65'"),
        (["run", "--soc", "Ascend1", "x.py"], "Ascend910B1"),
        (["run", "--cann", "new", "x.py"], "--cann must be a version such as 8.5.0, got 'new'"),
        (["run", "--cann", "8.2.0", "x.py"], "8.5.0 or later"),
        (["run", "--memory", "-1", "x.py"], "--memory must be a number of GiB"),
        (["run", "--memory", "nan", "x.py"], "got 'nan'"),
        (["run", "--verbose", "x.py"], "'--verbose'"),
        (["run", "-m"], "-m needs a module"),
        (["run", "-c"], "-c needs code"),
        (["info", "extra"], "'extra'"),
        (["info", "--force"], "'--force'"),
    ],
)
def test_usage_errors(words: list[str], said: str) -> None:
    assert said in refusal(*words)


def test_missing_script(tmp_path: Path) -> None:
    assert "cannot open the script 'nowhere.py': No such file or directory" in refusal("run", "nowhere.py")
    assert "cannot open the script" in refusal("run", str(tmp_path))


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["info", "-h"]])
def test_help(words: list[str]) -> None:
    result = hostnpu(*words)
    assert result.returncode == 0
    assert "--devices N" in result.stdout


# --- versions --------------------------------------------------------------------------------------------------------


def test_built_without_torch_npu(tmp_path: Path) -> None:
    for words in (["run", "-c", "1"], ["info"]):
        text = refusal(*words, MSPROBE_HOSTNPU_LIB=str(tmp_path))
        assert "built without torch_npu" in text
        assert "pip install" in text


def test_other_torch_npu(tmp_path: Path) -> None:
    lib, npu = fake_lib(tmp_path / "lib"), fake_npu(tmp_path / "npu", "2.14.0")
    text = refusal("run", "-c", "1", MSPROBE_HOSTNPU_LIB=str(lib), MSPROBE_TORCH_NPU_PATH=str(npu))
    assert "built for torch_npu 2.13.0, found 2.14.0" in text
    assert "rebuild msprobe" in text


def test_other_torch(tmp_path: Path) -> None:
    lib, npu = fake_lib(tmp_path / "lib", torch="2.12.1+cpu"), fake_npu(tmp_path / "npu")
    text = refusal("run", "-c", "1", MSPROBE_HOSTNPU_LIB=str(lib), MSPROBE_TORCH_NPU_PATH=str(npu))
    assert "built for torch 2.12.1+cpu, found 2.13.0" in text


def test_torch_of_another_build_kind_is_the_same_torch(tmp_path: Path) -> None:
    lib, npu = fake_lib(tmp_path / "lib", torch="2.13.0+cu130"), fake_npu(tmp_path / "npu")
    facts = json.loads(hostnpu("info", "--json", MSPROBE_HOSTNPU_LIB=str(lib), MSPROBE_TORCH_NPU_PATH=str(npu)).stdout)
    assert facts["ready"]


def test_no_torch_npu_where_the_variable_says(tmp_path: Path) -> None:
    lib = fake_lib(tmp_path / "lib")
    text = refusal("run", "-c", "1", MSPROBE_HOSTNPU_LIB=str(lib), MSPROBE_TORCH_NPU_PATH=str(tmp_path))
    assert f"no torch_npu is found in MSPROBE_TORCH_NPU_PATH ({tmp_path})" in text


# --- a real CANN -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"])
@pytest.mark.parametrize("folder", ["lib64", "runtime/lib64", "x86_64-linux/lib64"])
def test_real_cann_is_not_hidden(tmp_path: Path, script: Path, variable: str, folder: str) -> None:
    library = tmp_path / "cann" / folder / "libascendcl.so"
    library.parent.mkdir(parents=True)
    library.touch()
    text = refusal("run", str(script), **{variable: str(tmp_path / "cann")})
    assert str(library) in text
    assert "--force" in text
    assert hostnpu("run", "--force", str(script), **{variable: str(tmp_path / "cann")}).returncode == 5


def test_real_cann_on_the_library_path_and_at_its_usual_place(tmp_path: Path) -> None:
    lib = fake_lib(tmp_path / "lib")
    assert find_real_cann(lib, {}, tmp_path) is None
    assert find_real_cann(lib, {"LD_LIBRARY_PATH": f"{lib}:{tmp_path}"}, tmp_path) is None
    other = tmp_path / "usr/local/Ascend/ascend-toolkit/latest/lib64/libascendcl.so"
    other.parent.mkdir(parents=True)
    other.touch()
    assert find_real_cann(lib, {}, tmp_path) == other
    assert find_real_cann(lib, {"LD_LIBRARY_PATH": str(other.parent)}, Path("/nowhere")) == other


# --- the environment of the program ----------------------------------------------------------------------------------


def built(tmp_path: Path, environment: dict[str, str]) -> BuildInfo:
    info = build_info({**environment, "MSPROBE_HOSTNPU_LIB": str(fake_lib(tmp_path / "lib"))})
    assert info is not None
    return info


def environment_of(tmp_path: Path, options: dict[str, str], environment: dict[str, str]) -> dict[str, str]:
    info = built(tmp_path, environment)
    return program_environment(info, choose_settings(options, environment, info.cann), environment)


def test_environment(tmp_path: Path) -> None:
    npu = fake_npu(tmp_path / "npu")
    (npu / "torch_npu" / "acl_default.json").touch()
    given = {"MSPROBE_TORCH_NPU_PATH": str(npu), "LD_LIBRARY_PATH": "/a:/b", "PYTHONPATH": "/c", "OTHER": "kept"}
    made = environment_of(tmp_path, {}, given)
    lib = tmp_path / "lib"
    assert made["LD_LIBRARY_PATH"] == f"{lib}:/a:/b"
    assert made["PYTHONPATH"] == f"{npu}:/c"
    assert made["ASCEND_HOME_PATH"] == str(lib / "home")
    assert made["TORCH_ACL_INIT_CONFIG_PATH"] == str(npu / "torch_npu" / "acl_default.json")
    assert (made["ACL_OP_INIT_MODE"], made["OTHER"]) == ("2", "kept")
    assert environment_of(tmp_path, {}, made) == made


def test_later_cann_gets_the_library_with_the_later_calls(tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    later = environment_of(tmp_path, {"cann": "9.0.0"}, {})
    assert later["LD_LIBRARY_PATH"] == f"{lib / 'cann9'}:{lib}"
    assert environment_of(tmp_path, {"cann": "8.5.1"}, later)["LD_LIBRARY_PATH"] == str(lib)


def test_log_level_of_the_user(tmp_path: Path) -> None:
    assert environment_of(tmp_path, {}, {})["HOSTNPU_LOG_LEVEL"] == "3"
    made = environment_of(tmp_path, {}, {"ASCEND_GLOBAL_LOG_LEVEL": "1"})
    assert (made["ASCEND_GLOBAL_LOG_LEVEL"], made["HOSTNPU_LOG_LEVEL"]) == ("1", "1")


def test_option_wins_over_variable_and_variable_over_default() -> None:
    environment = {"HOSTNPU_DEVICES": "2", "HOSTNPU_CANN": "9.0.0"}
    settings = choose_settings({"devices": "4"}, environment, "8.5.0")
    assert (settings.devices, settings.cann, settings.soc) == (4, "9.0.0", "Ascend910B1")
    assert choose_settings({}, {}, "8.5.0").cann_numbers == (8, 5, 0)
    with pytest.raises(HostnpuError, match="--devices"):
        choose_settings({}, {"HOSTNPU_DEVICES": "-1"}, "8.5.0")


# --- info ------------------------------------------------------------------------------------------------------------


def test_info() -> None:
    result = hostnpu("info", "--devices", "2")
    assert result.returncode == 0, result.stderr
    for part in ("CANN played  8.5.0", "devices      2, 8 GiB each", "ready        yes", "aclnnMatmul"):
        assert part in result.stdout


def test_info_as_json() -> None:
    facts = json.loads(hostnpu("info", "--json", "--cann", "9.1.0").stdout)
    assert (facts["ready"], facts["cann"], facts["soc"]) == (True, "9.1.0", "Ascend910B1")
    assert facts["torch"]["found"].startswith("2.13.0")
    assert facts["torch_npu"]["needed"] == "2.13.0"
    assert facts["operator_count"] == len(facts["operators"]) > 100
    assert all(name.startswith("acl") for name in facts["operators"])


def test_info_tells_what_is_wrong(tmp_path: Path) -> None:
    lib, npu = fake_lib(tmp_path / "lib"), fake_npu(tmp_path / "npu", "2.10.0")
    result = hostnpu("info", MSPROBE_HOSTNPU_LIB=str(lib), MSPROBE_TORCH_NPU_PATH=str(npu))
    assert result.returncode == 1
    assert "ready        no" in result.stdout
    assert "found 2.10.0" in result.stdout


def test_torch_is_not_imported() -> None:
    code = "import sys, msprobe.hostnpu.__main__ as m; m.main(['info', '--json']); sys.exit('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0
