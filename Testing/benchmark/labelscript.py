"""What somebody would write to measure all structures of two label maps with surface-distance.

    python Testing/benchmark/labelscript.py REFERENCE TEST OUTPUT.csv

Writes a row of numbers for every label that both files have, on the arrays as they are in the files: surface-distance
crops them itself. It shares nothing with the rest of the benchmark, which measures this process from start to end.
"""

from __future__ import annotations

import csv
import sys

import numpy as np
import SimpleITK
import surface_distance

if __name__ == "__main__":
    reference, test = (SimpleITK.ReadImage(file) for file in sys.argv[1:3])
    spacing = reference.GetSpacing()[::-1]
    reference, test = map(SimpleITK.GetArrayFromImage, (reference, test))
    with open(sys.argv[3], "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Label", "HD", "HD95", "MASD", "NSD_2mm"])
        for label in np.intersect1d(reference, test):
            if label:
                distances = surface_distance.compute_surface_distances(reference == label, test == label, spacing)
                hausdorff = [surface_distance.compute_robust_hausdorff(distances, percent) for percent in (100, 95)]
                mean = sum(surface_distance.compute_average_surface_distance(distances)) / 2
                within = surface_distance.compute_surface_dice_at_tolerance(distances, 2)
                writer.writerow([label, *hausdorff, mean, within])
