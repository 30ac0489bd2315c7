"""The notebooks run from the first cell to the last. What they claim, they assert themselves."""

import sys
from pathlib import Path

import pytest

import occam

nbformat = pytest.importorskip("nbformat")
for needed in ("nbclient", "ipykernel", "pandas", "altair"):
    pytest.importorskip(needed)

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import notebooks  # noqa: E402  what writes their pages

NOTEBOOKS = sorted((ROOT / "python" / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["audit", "coins", "own_model"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path, monkeypatch):
    # The kernel imports the same occam.
    monkeypatch.setenv("PYTHONPATH", str(Path(occam.__file__).resolve().parent.parent))
    notebooks.executed(path)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_without_outputs(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None, cell.source
