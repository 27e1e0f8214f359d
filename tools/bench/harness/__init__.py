"""What all groups of measurements share. A group needs `figures` (Figure, Point, Contestant) and
the Environment that it is given; the rest works behind it."""
