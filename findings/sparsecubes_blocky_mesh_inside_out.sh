#!/bin/sh
# The blocky mesh of sparse-cubes is inside out and lies half a voxel off.
# Guess: mesh(voxels, smooth=False) and mesh(voxels), smooth, are two surfaces of the same voxels: both around them, with the normals
#        outward, so that the blocky one has exactly the volume of the voxels.
# Seen:  the smooth one is where the voxels are, centered at their indices, as voxelize() of the same package has it, and its volume is
#        positive. The blocky one is closed and wound consistently, but inward: its volume is that of the voxels, negative. Signed
#        distances to it have the wrong sign. It also begins at the index, not half a voxel before it, so its center is half a voxel
#        off along all axes, 1.5 mm with slices of 3 mm. Merging its faces (simplify=True) changes neither.
# Version: sparse-cubes 0.7.0 with trimesh 5.2.0 and NumPy 2.4.6.
# Output:
#   smooth: center [ 5.   6.  22.5] mm, volume    407.6 mm3
#   blocky: center [ 5.5  6.5 24. ] mm, volume   -450.0 mm3
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check sparse-cubes==0.7.0 trimesh==5.2.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import sparsecubes

voxels = np.stack(np.meshgrid(range(3, 8), range(4, 9), range(5, 11), indexing="ij"), axis=-1).reshape(-1, 3)
spacing = np.array([1.0, 1.0, 3.0])
center, volume = voxels.mean(axis=0) * spacing, len(voxels) * spacing.prod()
found = {}
for name, smooth in (("smooth", True), ("blocky", False)):
    mesh = sparsecubes.mesh(voxels, spacing=tuple(spacing), smooth=smooth)
    assert mesh.is_watertight and mesh.is_winding_consistent, name
    found[name] = mesh.bounds.mean(axis=0), mesh.volume
    print(f"{name}: center {found[name][0]} mm, volume {mesh.volume:8.1f} mm3")
assert np.allclose(found["smooth"][0], center) and 0 < found["smooth"][1] < volume, found
assert np.allclose(found["blocky"][0], center + spacing / 2), found
assert np.isclose(found["blocky"][1], -volume), found
PYTHON
