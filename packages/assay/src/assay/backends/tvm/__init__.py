"""TVM: a model compiled by a pipeline of passes, and run by its virtual machine."""
