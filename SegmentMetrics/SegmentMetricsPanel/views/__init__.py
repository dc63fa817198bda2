"""The widgets, one view for each section: they show what the model says and tell it what the user does."""
