"""`assay serve`: pages over a history. They read, escape everything, and load nothing but their own files."""
