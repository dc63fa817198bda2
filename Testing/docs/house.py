"""The house: which part of the code may import which, and the diagram of it, by `python Testing/docs/house.py`.

Rows are listed from the roof to the ground. A part imports parts of lower rows and of its own; what it imports from a
higher one, it imports late, inside a function, and DOORS says why.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARY = "SegmentMetricsLib"
DIAGRAM = ROOT / "docs" / "pictures" / "House.svg"
# Parts are packages and single files of the library, and the module of Slicer beside it.
ROWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("who asks", ("SegmentMetrics", "commands", "__main__")),
    ("many cases", ("cohort",)),
    ("nodes, reports", ("mrml", "report")),
    ("other tools, limits", ("conventions", "protocol")),
    ("from and to disk", ("files", "dicom", "samples")),
    (
        "one comparison",
        (
            *(
                "comparison",
                "pair",
                "measurements",
                "findings",
                "summary",
                "records",
                "tables",
                "pairing",
                "multilabel",
            ),
            *(
                "stress",
                "extents",
                "evaluatedgrid",
                "explanations",
                "relevance",
                "selection",
                "fingerprints",
            ),
        ),
    ),
    ("what exists", ("registry", "definitions")),
    ("what a pair shares", ("quantities",)),
    ("formulas", ("metrics",)),
    ("distances", ("distances",)),
    ("what is compared", ("structures", "inputs")),
    ("shapes in space", ("geometry",)),
    (
        "ground",
        (
            "settings",
            "settingchecks",
            "errors",
            "texts",
            "progress",
            "cores",
            "workers",
            "allocation",
            "naming",
            "palettes",
            "settinglocations",
            "version",
        ),
    ),
)
DOORS = {
    ("settings", "geometry"): "a grid to count on may be given as an image",
    ("settings", "conventions"): "a setting may name a tool, and tools are listed there",
    ("settings", "selection"): "a setting may name single measurements, and these are listed there",
    ("measurements", "conventions"): "a number may be asked for as another tool reports it",
    ("findings", "conventions"): "a finding mentions what another tool decided",
    ("comparison", "conventions"): "a comparison shows what other tools would have reported",
    ("records", "conventions"): "a record of a comparison keeps that",
    ("comparison", "files"): "what is compared may be given as the path of a file",
    ("comparison", "mrml"): "a comparison draws its picture in Slicer's 3D view",
    ("multilabel", "files"): "so may a segmentation of several labels",
}
SAID = {
    "SegmentMetrics": "the module: the panel, alone in knowing Qt",
    "__main__": "the command line",
    "commands": "compare, batch, conventions, stress, demo",
    "mrml": "segments in; tables, colored surfaces and plots out",
    "cohort": "cases, tasks, statistics, box plots",
    "report": "one HTML file about one case, and one about many",
    "conventions": "what other tools would report, a file each",
    "protocol": "tables of limits, and verdicts",
    "files": "label maps, meshes, JSON, CSV",
    "dicom": "RTSTRUCT and SEG",
    "samples": "two observers' contours, computed",
    "registry": "every number: key, title, unit, range, and its function",
    "definitions": "what an entry of the registry has",
    "quantities": "what the measurements of a pair are computed from, once for all of them, a family a file",
    "metrics": "pure functions, a family a file",
    "distances": "from one boundary to the other: by table, by search, converged",
    "structures": "a name with a mask, a surface or both",
    "inputs": "images and meshes become structures",
    "geometry": "grids, masks, surfaces, meshing, slicing",
}


def rowOf(part: str) -> int:
    """Return the row of a part, counted from the roof. Raises LookupError for one that is in none."""
    for number, (_, parts) in enumerate(ROWS):
        if part in parts:
            return number
    raise LookupError(f"{part} is in no row of the house: say in Testing/docs/house.py where it belongs.")


def parts() -> set[str]:
    """Return the parts that there are."""
    found = (path for path in (ROOT / LIBRARY).iterdir() if path.name != "__pycache__" and path.name != "__init__.py")
    return {"SegmentMetrics", *(path.stem for path in found if path.is_dir() or path.suffix == ".py")}


def imports() -> Iterator[tuple[str, str, bool, str]]:
    """Yield what imports what: part, imported part, whether inside a function, and the file."""
    for folder in (LIBRARY, "SegmentMetrics"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            names = path.relative_to(ROOT).with_suffix("").parts
            if names == (LIBRARY, "__init__"):
                continue  # the entrance; it imports late whatever is asked for
            part = names[1] if folder == LIBRARY else folder
            for target, isLate in importsOf(path, names[:-1]):
                if target != part:
                    yield part, target, isLate, path.relative_to(ROOT).as_posix()


def importsOf(path: Path, package: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Yield the parts that a file imports, and whether inside a function; imports for type checkers do not count."""

    def visit(node: ast.AST, isLate: bool) -> Iterator[tuple[str, bool]]:
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            return
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from named(alias.name.split("."), isLate)
        if isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            for alias in node.names:
                yield from named([*base, alias.name], isLate)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, isLate or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))

    def named(names: list[str], isLate: bool) -> Iterator[tuple[str, bool]]:
        if names[0] == LIBRARY and len(names) > 1 and names[1] in known:
            yield names[1], isLate

    known = parts()
    yield from visit(ast.parse(path.read_text(encoding="utf-8")), False)


def borrowed() -> Iterator[str]:
    """Yield the names that a file imports from another one, not a package, which only imports them as well."""
    for path in sorted(path for folder in (LIBRARY, "SegmentMetrics") for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            folder = path.parents[node.level - 1] if node.level else ROOT
            home = folder.joinpath(*node.module.split(".")).with_suffix(".py")
            if home.is_file():
                missing = [alias.name for alias in node.names if alias.name not in _defined(home)]
                yield from (f"{path.relative_to(ROOT).as_posix()}: {name} from {node.module}" for name in missing)


@cache
def _defined(path: Path) -> set[str]:
    """Return the names that a file defines outside functions and classes."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            found |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return found


WIDTH, LEFT, ROW, GAP = 980, 175, 54, 12
INK, PALE, LINE = "#1f2d3d", "#eef3f8", "#9fb3c8"


def diagram() -> str:
    """Return the house as an SVG picture."""
    height = len(ROWS) * (ROW + GAP) + GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="{INK}">',
        "<title>The packages of SegmentMetrics: each imports only from its own row and those below</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<path d="M 22 {GAP} V {height - 2 * GAP} m -6 -9 l 6 10 l 6 -10" fill="none" stroke="{LINE}" '
        'stroke-width="2"/>',
        f'<text transform="translate(14 {height / 2}) rotate(-90)" text-anchor="middle" font-size="12">imports</text>',
    ]
    for number, (title, row) in enumerate(ROWS):
        top = GAP + number * (ROW + GAP)
        lines.append(f'<text x="36" y="{top + ROW / 2 + 4}" font-style="italic" font-size="12">{escape(title)}</text>')
        boxes = row if all(part in SAID for part in row) else (row,)
        width = (WIDTH - LEFT - GAP * len(boxes)) / len(boxes)
        for place, part in enumerate(boxes):
            x = LEFT + place * (width + GAP)
            lines.append(
                f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{ROW}" rx="6" fill="{PALE}" stroke="{LINE}"/>'
            )
            texts = (
                wrapped(", ".join(part), 118) if isinstance(part, tuple) else [part, *wrapped(SAID[part], width / 7)]
            )
            isNamed = not isinstance(part, tuple)
            first = top + ROW / 2 + 5 - 8 * (len(texts) - 1)
            for index, text in enumerate(texts):
                weight = ' font-weight="bold"' if isNamed and index == 0 else ' font-size="12"'
                y = first + 16 * index
                lines.append(f'<text x="{x + 10:.1f}" y="{y:.1f}"{weight}>{escape(text)}</text>')
    return "\n".join([*lines, "</svg>\n"])


def wrapped(text: str, length: float) -> list[str]:
    """Return a text in lines of at most so many characters."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > length:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


if __name__ == "__main__":
    DIAGRAM.write_text(diagram(), encoding="utf-8")
