"""Pages of the site that are made from what exists elsewhere in the repository."""
