"""A believable household to try everything on."""
