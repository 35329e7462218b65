# SPDX-License-Identifier: Apache-2.0
"""How msprobe is built, installed and started: wheels with and without aclgraph_dump, the program, the clash of names."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
import zipfile
from pathlib import Path

import pytest

from msprobe import __version__
from msprobe._name_clash import check_name_clash

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def build_wheel(dist: Path, *options: str) -> Path:
    built = run(sys.executable, "setup.py", "bdist_wheel", "--dist-dir", dist, *options)
    assert built.returncode == 0, built.stdout + built.stderr
    wheels = list(dist.glob("*.whl"))
    assert len(wheels) == 1, wheels
    assert str(wheels[0]) in built.stdout
    return wheels[0]


def unpack(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


# --- versions -----------------------------------------------------------------------------------------------------


def test_one_version_everywhere():
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r'^version = "(.+)"', pyproject, re.MULTILINE).group(1) == __version__
    assert re.search(r"project\(msprobe VERSION (\S+)", cmake).group(1) == __version__
    assert re.search(r"^## (\S+)", changelog, re.MULTILINE).group(1) == __version__


def test_torch_and_torch_npu_are_pinned_to_one_release(build_environment):
    requirements = ROOT / "tools" / "requirements"
    torch = re.search(r"^torch==(.+)$", (requirements / "torch.txt").read_text(encoding="utf-8"), re.MULTILINE).group(1)
    torch_npu = re.search(
        r"^torch-npu==(.+)$", (requirements / "torch_npu.txt").read_text(encoding="utf-8"), re.MULTILINE
    ).group(1)
    assert torch == torch_npu == build_environment.DEFAULT_TORCH


# --- the program --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def program() -> Path:
    path = Path(sysconfig.get_paths()["scripts"]) / "msprobe"
    assert path.is_file(), "the msprobe program was not installed"
    return path


def test_program_tells_its_version(program):
    told = run(program, "--version")
    assert (told.returncode, told.stdout, told.stderr) == (0, f"msprobe {__version__}\n", "")


@pytest.mark.parametrize("option", ["--help", "-h", "help"])
def test_program_lists_its_commands(program, option):
    told = run(program, option)
    assert told.returncode == 0
    assert "hostnpu run" in told.stdout
    assert told.stderr == ""


@pytest.mark.parametrize(("words", "told"), [([], "a command is missing"), (["dance"], "'dance'"), (["--loud"], "'--loud'")])
def test_wrong_command_line_is_one_line_and_code_2(program, words, told):
    answer = run(program, *words)
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1
    assert answer.stderr.startswith("msprobe: ")
    assert told in answer.stderr
    assert "--help" in answer.stderr


def test_program_starts_no_python(program):
    """It is native, and loads no library that a system may lack."""
    assert program.read_bytes()[:4] == b"\x7fELF"
    loaded = run("ldd", program).stdout
    assert {line.split()[0].split("/")[-1].split(".so")[0] for line in loaded.splitlines()} <= {
        "linux-vdso", "ld-linux-x86-64", "ld-linux-aarch64", "libc", "libm", "libgcc_s", "libstdc++",
    }  # fmt: skip


# --- the wheel without aclgraph_dump ------------------------------------------------------------------------------

MACHINE = sysconfig.get_platform().replace("-", "_").replace(".", "_")
COMPARISON = {f"msprobe-{__version__}.data/scripts/msprobe", "msprobe/lib/libmsprobe_compare.so"}


@pytest.fixture(scope="module")
def bare_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("bare"), "--no-check")


def test_wheel_without_aclgraph_dump_has_the_comparison_alone(bare_wheel):
    assert bare_wheel.name == f"msprobe-{__version__}-py3-none-{MACHINE}.whl"
    names = set(zipfile.ZipFile(bare_wheel).namelist())
    assert names >= COMPARISON
    assert not [name for name in names if "aclgraph_dump" in name or "libmsprobe_ops" in name or "hostnpu/home" in name]
    assert not [name for name in names if name.endswith((".a", ".h", ".cmake")) or "__pycache__" in name]
    assert {"msprobe/__init__.py", "msprobe/pytorch/__init__.py", "msprobe/config.json", "msprobe/py.typed"} <= names


def test_wheel_without_aclgraph_dump_compares(bare_wheel, tmp_path):
    """In an environment without torch, from the program and from Python, workbooks included."""
    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / "bin"
    installed = run(binaries / "python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", bare_wheel)
    assert installed.returncode == 0, installed.stderr
    dump = tmp_path / "dump.json"
    record = (
        '{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [1], "Max": 1.0, "Min": 1.0, "Mean": 1.0, "Norm": 1.0}'
    )
    dump.write_text('{"task": "statistics", "data": {"Module.a.Linear.forward.0": {"output": [' + record + "]}}}")
    told = run(
        binaries / "msprobe", "compare", "-tp", dump, "-gp", dump, "-o", tmp_path / "out", "--format", "csv,xlsx", PATH=""
    )
    assert (told.returncode, told.stderr) == (0, "")
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir()) == [".csv", ".xlsx"]
    code = (
        f"import msprobe; print(msprobe.compare({str(dump)!r}, {str(dump)!r}, output={str(tmp_path)!r}, formats='xlsx').counts)"
    )
    told = run(binaries / "python", "-c", code)
    assert told.stdout == "{'pass': 1, 'warning': 0, 'error': 0, 'unmatched': 0}\n", told.stderr


def test_importing_the_dumper_without_aclgraph_dump_tells_the_remedy(bare_wheel, tmp_path):
    place = unpack(bare_wheel, tmp_path)
    code = "import msprobe; print(msprobe.__file__); from msprobe.pytorch import AclGraphDumper"
    answer = run(sys.executable, "-c", code, PYTHONPATH=str(place))
    assert answer.returncode == 1
    assert str(place) in answer.stdout  # the wheel's package was tested, not the installed one
    last_line = answer.stderr.strip().splitlines()[-1]
    assert "ImportError: Failed to import msprobe.lib.aclgraph_dump_ext" in answer.stderr
    assert "--include-mod=aclgraph_dump" in answer.stderr, last_line


# --- the wheel with aclgraph_dump ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def full_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("full"), "--include-mod=aclgraph_dump", "--no-check")


def test_wheel_with_aclgraph_dump_serves_every_python(full_wheel):
    assert full_wheel.name == f"msprobe-{__version__}-py3-none-{MACHINE}.whl"
    names = set(zipfile.ZipFile(full_wheel).namelist())
    assert names >= COMPARISON
    assert {"msprobe/lib/libmsprobe_ops.so", "msprobe/lib/build_info.json", "msprobe/lib/aclgraph_dump_ext.py"} <= names
    # What only the build needs stays out.
    assert not [name for name in names if name.endswith((".a", ".h", ".cmake")) or "__pycache__" in name]


def test_wheel_asks_for_the_torch_it_was_built_with(full_wheel, bare_wheel):
    def requirements(wheel: Path) -> list[str]:
        metadata = zipfile.ZipFile(wheel).read(f"msprobe-{__version__}.dist-info/METADATA").decode("utf-8")
        return re.findall(r"^Requires-Dist: (.+)$", metadata, re.MULTILINE)

    import torch

    assert requirements(full_wheel) == [f"torch=={torch.__version__.split('+')[0]}"]
    assert requirements(bare_wheel) == ["torch>=2.6"]


def test_full_wheel_dumps_on_the_cpu(full_wheel, tmp_path):
    """Built where torch_npu is not in the environment, it serves the CPU."""
    place = unpack(full_wheel, tmp_path / "package")
    (tmp_path / "config.json").write_text('{"dump_path": "./dump"}', encoding="utf-8")
    program = tmp_path / "program.py"
    program.write_text(
        "import os, torch\n"
        "from msprobe.pytorch import AclGraphDumper\n"
        f"os.chdir({str(tmp_path)!r})\n"
        "model = torch.nn.Linear(4, 2)\n"
        "dumper = AclGraphDumper('config.json')\n"
        "dumper.start(model)\n"
        "model(torch.ones(3, 4))\n"
        "dumper.step()\n",
        encoding="utf-8",
    )
    answer = run(sys.executable, program, PYTHONPATH=str(place))
    assert answer.returncode == 0, answer.stderr
    assert [path.name for path in tmp_path.glob("dump/step0/pid*/*")] == ["dump.json"]


def test_pip_install_works_by_itself(tmp_path):
    """In an environment of its own, with pip's isolated build; torch comes from ours, to save the time of another copy."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    site_packages = next((tmp_path / "venv" / "lib").glob("python*/site-packages"))
    installed = run(python, "-m", "pip", "install", "--quiet", "--no-deps", ".")
    assert installed.returncode == 0, installed.stderr
    assert (site_packages / "msprobe" / "lib" / "libmsprobe_ops.so").is_file()
    told = run(tmp_path / "venv" / "bin" / "msprobe", "--version")
    assert told.stdout == f"msprobe {__version__}\n"


# --- setup.py -----------------------------------------------------------------------------------------------------


def test_setup_names_the_modules_there_are():
    answer = run(sys.executable, "setup.py", "bdist_wheel", "--include-mod=adump")
    assert answer.returncode == 2
    assert "'adump'" in answer.stderr
    assert "aclgraph_dump" in answer.stderr


def test_setup_without_no_check_tells_what_is_missing():
    # .venv has no torch_npu: the tests' own environment is the case.
    assert importlib.util.find_spec("torch_npu") is None
    answer = run(sys.executable, "setup.py", "bdist_wheel", "--include-mod=aclgraph_dump")
    assert answer.returncode == 1
    assert "torch_npu" in answer.stderr
    assert "--no-check" in answer.stderr


def test_setup_without_scikit_build_core_names_the_pip_command(tmp_path):
    venv.create(tmp_path / "venv", with_pip=False)
    answer = run(tmp_path / "venv" / "bin" / "python", "setup.py", "bdist_wheel", "--no-check")
    assert answer.returncode == 1
    assert "pip install 'scikit-build-core" in answer.stderr
    assert "Traceback" not in answer.stderr


# --- mindstudio-probe brings a package called msprobe too ---------------------------------------------------------


@pytest.fixture
def build_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT / "tools" / "build_backend")
    import build_environment

    return build_environment


@pytest.fixture
def site_packages(bare_wheel, tmp_path) -> Path:
    """An environment with our wheel, as pip would lay it out."""
    return unpack(bare_wheel, tmp_path / "site-packages")


def test_no_clash_no_word(site_packages, recwarn):
    check_name_clash(str(site_packages / "msprobe"))
    assert not recwarn.list


def test_clash_with_whole_files_is_a_warning(site_packages):
    (site_packages / "mindstudio_probe-8.1.0.dist-info").mkdir()
    with pytest.warns(RuntimeWarning, match=r"mindstudio-probe 8\.1\.0 .*pip uninstall"):
        check_name_clash(str(site_packages / "msprobe"))


@pytest.mark.parametrize("damage", [lambda path: path.write_text("# theirs\n"), lambda path: path.unlink()])
def test_clash_with_damaged_files_is_an_import_error(site_packages, damage):
    (site_packages / "mindstudio_probe-8.1.0.dist-info").mkdir()
    damage(site_packages / "msprobe" / "pytorch" / "__init__.py")
    with pytest.raises(ImportError, match=r"1 of msprobe's files .*msprobe/pytorch/__init__\.py.*mindstudio-probe 8\.1\.0"):
        check_name_clash(str(site_packages / "msprobe"))


def test_looking_for_a_clash_is_cheap():
    installed = Path(importlib.util.find_spec("msprobe").origin).parent
    times = []
    for _ in range(20):
        start = time.perf_counter()
        check_name_clash(str(installed))
        times.append(time.perf_counter() - start)
    assert min(times) < 0.002


def test_clash_stops_a_build_unless_told_otherwise(build_environment, monkeypatch, tmp_path):
    (tmp_path / "mindstudio_probe-8.1.0.dist-info").mkdir()
    monkeypatch.setattr(build_environment, "torch_version", lambda: None)
    monkeypatch.setattr(build_environment.sysconfig, "get_paths", lambda: {"purelib": str(tmp_path)})
    monkeypatch.delenv(build_environment.NO_CHECK, raising=False)
    with pytest.raises(RuntimeError, match=r"mindstudio-probe 8\.1\.0"):
        build_environment.dynamic_metadata({}, {})
    monkeypatch.setenv(build_environment.NO_CHECK, "1")
    assert build_environment.dynamic_metadata({}, {}) == {"dependencies": ["torch>=2.6"]}


def test_isolated_build_fetches_torch_only_where_there_is_none(build_environment, monkeypatch, tmp_path):
    assert build_environment.get_requires_for_dynamic_metadata({}) == []  # this environment has it
    monkeypatch.setattr(build_environment, "package_folder", lambda _name: None)
    assert build_environment.get_requires_for_dynamic_metadata({}) == [f"torch=={build_environment.DEFAULT_TORCH}"]
    monkeypatch.setenv(build_environment.WITHOUT_ACLGRAPH_DUMP, "1")
    assert build_environment.get_requires_for_dynamic_metadata({}) == []


# --- a skipped test counts as failed (conftest.py) ----------------------------------------------------------------


def test_skips_fail(tmp_path):
    shutil.copy(ROOT / "tests" / "python" / "conftest.py", tmp_path)
    (tmp_path / "test_example.py").write_text(
        "import pytest\n"
        "def test_passes(): pass\n"
        "def test_skips(): pytest.skip('no device')\n"
        "@pytest.mark.xfail(reason='known')\n"
        "def test_expected_failure(): assert False\n",
        encoding="utf-8",
    )
    (tmp_path / "test_module.py").write_text("import pytest\npytest.importorskip('no_such_package')\n", encoding="utf-8")
    options = ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", tmp_path, "--continue-on-collection-errors"]
    answer = run(sys.executable, "-m", "pytest", *options, tmp_path)
    assert answer.returncode != 0
    assert "no device" in answer.stdout
    assert "no_such_package" in answer.stdout
    closing_line = answer.stdout.strip().splitlines()[-1]
    assert re.search(r"1 failed, 1 passed, 1 xfailed, 1 error", closing_line), closing_line
