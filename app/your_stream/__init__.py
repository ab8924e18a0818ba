"""The page for a visitor's own stream: uploaded logits or pictures as a stream that the console can show."""
