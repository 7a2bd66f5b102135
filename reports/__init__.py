"""Reports: what a summary looks like in a terminal, as JSON, CSV, Markdown and HTML."""
