"""Labels divided among shards: processes of a Ray cluster, or objects in this process."""
