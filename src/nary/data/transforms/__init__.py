"""Functions that turn a dataset or a table of facts into another one."""
