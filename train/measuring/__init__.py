"""What evaluation needs: images and their branch outputs, and the rows of every result file."""
