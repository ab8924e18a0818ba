"""The Results and Learning pages: the shipped result files, benchmark tables, and curves over training epochs."""
