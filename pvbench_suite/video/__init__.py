"""Videos of a run: found in a folder by one of many layouts, decoded once, checked against the protocol."""
