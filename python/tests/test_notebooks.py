"""The notebooks run from the first cell to the last. What they claim, they assert themselves."""

import os
import sys
from pathlib import Path

import pytest

import occam

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
for needed in ("ipykernel", "pandas", "altair"):
    pytest.importorskip(needed)

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager  # noqa: E402
from jupyter_client.manager import AsyncKernelManager  # noqa: E402

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))


class ThisInterpreter(KernelSpecManager):
    """The kernel is the interpreter that runs the tests, whatever is registered for the user."""

    def get_kernel_spec(self, kernel_name):
        return KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                          display_name=kernel_name, language="python")


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["audit", "coins", "own_model"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path, monkeypatch):
    # The kernel imports the same occam, and leaves nothing behind at home.
    package = str(Path(occam.__file__).resolve().parent.parent)
    paths = [package] + [one for one in [os.environ.get("PYTHONPATH", "")] if one]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("TQDM_DISABLE", "1")
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}},
                                     km=AsyncKernelManager(kernel_spec_manager=ThisInterpreter()))
    client.execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_without_outputs(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None, cell.source
