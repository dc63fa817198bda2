#!/bin/sh
# Slicer saves the numbers of a table with six digits.
# Guess: a table node of doubles, written with the scene as CSV or TSV and read again, has the same doubles: markups keep all digits,
#        and the column's type, double, is written beside the file.
# Seen:  six significant digits are left: a volume of 1234567.891 mm3 comes back as 1234570, 100000.5 as 100000 and a p value of
#        0.0512345678 as 0.0512346. WriteData() reports success and nothing is logged. Sums, differences and ranks of what was saved
#        differ from what was shown.
# Version: slicer-core 5.13.31053.0 (VTK 9.6.2).
# Output:
#   csv [1234570.0, 100000.0, 0.0512346]
#   tsv [1234570.0, 100000.0, 0.0512346]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check slicer-core==5.13.31053.0
FOLDER="$folder" "$folder/venv/bin/python" - <<'PYTHON'
import os

import slicer
import vtk

scene = slicer.vtkMRMLScene()
numbers = (1234567.891, 100000.5, 0.0512345678)
column = vtk.vtkDoubleArray()
column.SetName("Number")
for number in numbers:
    column.InsertNextValue(number)
table = scene.AddNewNodeByClass("vtkMRMLTableNode", "Results")
table.AddColumn(column)
found = {}
for ending in ("csv", "tsv"):
    path = os.path.join(os.environ["FOLDER"], f"results.{ending}")
    read = scene.AddNewNodeByClass("vtkMRMLTableNode", "Read")
    for work, node in (("WriteData", table), ("ReadData", read)):
        storage = slicer.vtkMRMLTableStorageNode()
        scene.AddNode(storage)
        storage.SetFileName(path)
        assert getattr(storage, work)(node), work
    array = read.GetTable().GetColumn(0)
    assert array.GetDataType() == vtk.VTK_DOUBLE
    found[ending] = [array.GetValue(k) for k in range(array.GetNumberOfTuples())]
    print(ending, found[ending])
assert found == {ending: [1234570.0, 100000.0, 0.0512346] for ending in ("csv", "tsv")}, found
PYTHON
