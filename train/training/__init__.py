"""What training needs: recipes, batches, losses, the loop that survives a kill, and what it measures on the way."""
