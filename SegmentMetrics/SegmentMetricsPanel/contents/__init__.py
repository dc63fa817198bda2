"""What is shown, as texts and rows: nothing here knows Qt or nodes of the scene."""
