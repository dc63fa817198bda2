"""What the differences mean for the dose that each structure receives."""
