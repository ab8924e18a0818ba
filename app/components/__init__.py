"""Our own Streamlit components: the deck (knobs), the board (what moves), the tape (what does not), and a plot that never blinks."""
