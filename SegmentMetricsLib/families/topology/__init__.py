"""Whether tubes are connected as they should be, and how many parts, tunnels and cavities there are."""
