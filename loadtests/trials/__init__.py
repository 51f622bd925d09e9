"""Read the figures of a trial, and judge whether it is valid and whether the setup met the test's requirements."""
