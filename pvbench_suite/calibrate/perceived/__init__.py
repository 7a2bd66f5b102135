"""A perception profile held against the renderer's truth: masks, points, flow, events, cameras, repeats and cuts."""
