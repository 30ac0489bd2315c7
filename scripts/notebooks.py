#!/usr/bin/env python3
"""Runs the notebooks of python/notebooks and writes each as a page with its outputs, docs/notebooks/NAME.md.

    scripts/notebooks.py [NAME ...]        all of them, or those named (coins, own_model, audit)

It needs occam, nbclient, ipykernel, pandas and altair in the interpreter that runs it. Charts become svg files beside the
pages where vl-convert-python is installed; without it a line stands in their place.
"""

import html.parser
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "python" / "notebooks"
TARGET = ROOT / "docs" / "notebooks"

# Charts as specifications, which is what is drawn from; it is run first and not shown.
CHART = "application/vnd.vegalite+json"
SETUP = f"""import altair
altair.renderers.register("specification", lambda chart, **options: {{"{CHART}": chart, "text/plain": "a chart"}})
altair.renderers.enable("specification")"""
NO_CHART = "*(A chart is missing here: `pip install vl-convert-python`, and run `scripts/notebooks.py` again.)*"


class ThisInterpreter(KernelSpecManager):
    """Kernels run in the interpreter that asks for them, whatever is registered for the user."""

    def get_kernel_spec(self, kernel_name):
        """The only kernel there is."""
        return KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                          display_name=kernel_name, language="python")


def executed(path: Path):
    """The notebook with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(SETUP))
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TQDM_DISABLE": "1", "IPYTHONDIR": folder}
        client = NotebookClient(notebook, timeout=600, km=AsyncKernelManager(kernel_spec_manager=ThisInterpreter()),
                                resources={"metadata": {"path": folder}})
        client.execute(env=environment)
    del notebook.cells[0]
    return notebook


class Rows(html.parser.HTMLParser):
    """The cells of an html table, row by row."""

    def __init__(self, text: str):
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += data


def table(text: str) -> str:
    """An html table in markdown."""
    rows = [[cell.strip().replace("|", "\\|") for cell in row] for row in Rows(text).rows]
    width = max(len(row) for row in rows)
    rows = [row + [""] * (width - len(row)) for row in rows]
    if len(rows) > 2 and rows[1][0] and not any(rows[1][1:]):    # pandas: the name of the index has a row of its own
        name = rows.pop(1)[0]
        rows[0][0] = f"{name} / {rows[0][0]}" if rows[0][0] else name
    rows.insert(1, ["---"] * width)
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def indented(text: str) -> str:
    """A block of code."""
    return "\n".join(("    " + line).rstrip() for line in text.rstrip().split("\n"))


def warnings_in(text: str) -> str:
    """The warnings of standard error without the places that raised them; all else there is progress."""
    found = re.findall(r"^\S.*?:\d+: (\w*Warning: .*)$", text, re.MULTILINE)
    return "\n".join(one for one in found if not one.startswith("TqdmWarning"))


class Page:
    """A notebook as markdown, and its charts."""

    def __init__(self, name: str):
        self.name = name
        self.parts = [f"<!-- written by scripts/notebooks.py from python/notebooks/{name}.ipynb; do not edit -->"]
        self.charts: list[str] = []
        self.missing = False

    def add(self, cell) -> None:
        """A cell and its outputs."""
        if cell.cell_type == "markdown":
            self.parts.append(cell.source.rstrip())
            return
        self.parts.append(f"```python\n{cell.source.rstrip()}\n```")
        for output in cell.outputs:
            self.parts += [part for part in [self.shown(output)] if part]

    def shown(self, output) -> str:
        """An output in markdown, "" for none."""
        if output.output_type == "stream":
            text = output.text if output.name == "stdout" else warnings_in(output.text)
            return indented(text) if text.strip() else ""
        data = output.data
        if CHART in data:
            return self.chart(data[CHART])
        if "<table" in data.get("text/html", ""):
            return table(data["text/html"])
        return indented(data["text/plain"])

    def chart(self, specification) -> str:
        """A chart as a file of its own."""
        try:
            import vl_convert
        except ImportError:
            self.missing = True
            return NO_CHART
        self.charts.append(vl_convert.vegalite_to_svg(specification))
        return f"![chart {len(self.charts)} of {self.name}]({self.name}-{len(self.charts)}.svg)"

    def write(self, folder: Path) -> None:
        """The page and its charts, and none of those that were there before."""
        for old in folder.glob(f"{self.name}-*.svg"):
            old.unlink()
        for k, chart in enumerate(self.charts, 1):
            (folder / f"{self.name}-{k}.svg").write_text(chart.rstrip() + "\n")
        (folder / f"{self.name}.md").write_text("\n\n".join(self.parts) + "\n")


def main() -> int:
    names = sys.argv[1:] or sorted(path.stem for path in SOURCE.glob("*.ipynb"))
    TARGET.mkdir(exist_ok=True)
    missing = False
    for name in names:
        begin = time.monotonic()
        page = Page(name)
        for cell in executed(SOURCE / f"{name}.ipynb").cells:
            page.add(cell)
        page.write(TARGET)
        missing = missing or page.missing
        print(f"{name}: {time.monotonic() - begin:.0f} s, {len(page.charts)} charts")
    if missing:
        print("Charts were left out, since vl-convert-python is not installed.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
